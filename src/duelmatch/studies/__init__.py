"""Studies: questions for many voters, and a log that survives anything.

>>> import tempfile, duelmatch as dm
>>> from duelmatch.studies import Settings, Store
>>> folder = tempfile.TemporaryDirectory()
>>> store = Store(f"sqlite:///{folder.name}/duels.db")
>>> problem = dm.Problem.complete(["ann", "bob"], ["chair"])
>>> study = store.create(problem, Settings("car-cond", delta=0.2), "Who leads?")
>>> voter = study.add_voter()
>>> question = study.ask(voter)
>>> study.tell(voter, question.number, "ann").winner
'ann'
>>> study.status().counted
1
>>> store.close(); folder.cleanup()
"""

from duelmatch.errors import MissingExtraError

try:
    import alembic as _alembic  # noqa: F401
    import sqlalchemy as _sqlalchemy  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtraError("Studies need SQLAlchemy and Alembic: pip install 'duelmatch[studies]'") from None

from duelmatch.studies.entries import Entry
from duelmatch.studies.keys import Access, Key
from duelmatch.studies.settings import Settings
from duelmatch.studies.store import Listed, Store
from duelmatch.studies.study import Study
from duelmatch.studies.values import Nothing, Question, Receipt, Status, Vote, Voter

__all__ = [
    "Access",
    "Entry",
    "Key",
    "Listed",
    "Nothing",
    "Question",
    "Receipt",
    "Settings",
    "Status",
    "Store",
    "Study",
    "Vote",
    "Voter",
]

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
from duelmatch.studies.feed import Feed
from duelmatch.studies.history import History, Point
from duelmatch.studies.links import Access, Link
from duelmatch.studies.settings import Settings
from duelmatch.studies.store import Store
from duelmatch.studies.study import NewVoter, Study
from duelmatch.studies.values import (
    GivenAnswer,
    Listed,
    Nothing,
    Question,
    Receipt,
    Status,
    Voter,
)

__all__ = [
    "Access",
    "Entry",
    "Feed",
    "GivenAnswer",
    "History",
    "Link",
    "Listed",
    "NewVoter",
    "Nothing",
    "Point",
    "Question",
    "Receipt",
    "Settings",
    "Status",
    "Store",
    "Study",
    "Voter",
]

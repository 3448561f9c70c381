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
from duelmatch.studies.estimates import Action, Estimates, Moment, Preview, Standpoint, preview
from duelmatch.studies.exchange import (
    export_answers,
    export_log,
    export_table,
    exported_answers,
    exported_log,
    exported_table,
    import_log,
)
from duelmatch.studies.feed import Feed
from duelmatch.studies.hints import Hints
from duelmatch.studies.kinds.stacks import begin_run
from duelmatch.studies.links import Access, Link, Role
from duelmatch.studies.links import id_of as link_id_of
from duelmatch.studies.rehearsal import rehearse
from duelmatch.studies.schema import LARGEST_NUMBER
from duelmatch.studies.settings import Settings
from duelmatch.studies.state import MOST_PAIRS, check_beginning
from duelmatch.studies.store import Store
from duelmatch.studies.study import LONGEST_REASON, Study
from duelmatch.studies.values import (
    HOUR,
    AnswersLeft,
    GivenAnswer,
    History,
    Listed,
    Nothing,
    Phase,
    Point,
    Question,
    Ranking,
    Reason,
    Receipt,
    Report,
    Status,
    Trouble,
    Voter,
)
from duelmatch.studies.voters import LARGEST_WEIGHT, NewVoter
from duelmatch.studies.webhooks import News, Webhook, news

__all__ = [
    "HOUR",
    "LARGEST_NUMBER",
    "LARGEST_WEIGHT",
    "LONGEST_REASON",
    "MOST_PAIRS",
    "Access",
    "Action",
    "AnswersLeft",
    "Entry",
    "Estimates",
    "Feed",
    "GivenAnswer",
    "Hints",
    "History",
    "Link",
    "Listed",
    "Moment",
    "NewVoter",
    "News",
    "Nothing",
    "Phase",
    "Point",
    "Preview",
    "Question",
    "Ranking",
    "Reason",
    "Receipt",
    "Report",
    "Role",
    "Settings",
    "Standpoint",
    "Status",
    "Store",
    "Study",
    "Trouble",
    "Voter",
    "Webhook",
    "begin_run",
    "check_beginning",
    "export_answers",
    "export_log",
    "export_table",
    "exported_answers",
    "exported_log",
    "exported_table",
    "import_log",
    "link_id_of",
    "news",
    "preview",
    "rehearse",
]

"""A client for the HTTP API of ``duelmatch serve``, which needs nothing but Python.

For example::

    client = Client("http://127.0.0.1:8000")
    study = client.create("Who leads?", problem, voters=["Eve", "Ned"])
    eve = client.voter(study.id, study.invited[0].token)
    while isinstance(question := eve.ask(), Question):
        eve.tell(question, question.first)
    study.result().matching

What the server refuses is raised as the library would: NotAllowedError, NotThereError, ConflictError, or
another StudyError, with the server's sentence. A server that is busy (429, 503) is asked again when it says,
for as long as the ``patience`` of the client lasts; then, and if there is no server, it is a ServerError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from time import monotonic, sleep
from typing import Any, Literal
from urllib.parse import quote, urlencode, urlsplit

from duelmatch.client import values
from duelmatch.client.values import (
    AnswerReceipt,
    Invited,
    Made,
    NoQuestion,
    StudyAnswer,
    StudyProgress,
    StudyResult,
    StudyStandings,
    StudyVoter,
)
from duelmatch.errors import (
    ConflictError,
    DuelmatchError,
    NotAllowedError,
    NotThereError,
    ServerError,
    StudyError,
    brief,
)
from duelmatch.explorers.questions import Answer, Question
from duelmatch.files.problems import read_problem, tree_of
from duelmatch.problem import Problem, check_problem

LARGEST_RESPONSE = 100_000_000
TOKEN = re.compile("[!-~]*")
PAGE = 1_000
"""How many of a list are asked for at once."""

REFUSALS: Mapping[int, type[DuelmatchError]] = {
    401: NotAllowedError,
    403: NotAllowedError,
    404: NotThereError,
    409: ConflictError,
}
NO_SUCH_PAGE = "Not Found"
"""What a server says of an address below its own that it does not know."""

__all__ = [
    "AnswerReceipt",
    "Client",
    "Invited",
    "NoQuestion",
    "Organiser",
    "Question",
    "StudyAnswer",
    "StudyProgress",
    "StudyResult",
    "StudyStandings",
    "StudyVoter",
    "Voter",
]


class Client:
    """A server, by its address; ``key`` is that for creating studies, where the server wants one."""

    def __init__(
        self, address: str, key: str | None = None, patience: float = 30.0, timeout: float = 60.0
    ) -> None:
        parts = urlsplit(address if isinstance(address, str) else "")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServerError(
                f"{brief(address)} is not the address of a server, such as http://127.0.0.1:8000."
            )
        self._parts, self._key, self._patience, self._timeout = parts, key, patience, timeout

    def create(
        self,
        name: str,
        problem: Problem,
        voters: Iterable[str | Mapping[str, Any]] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> Organiser:
        """Create a study. Voters are names, or have a name, a weight and conflicts; they are ``invited``."""
        check_problem(problem, "A study")
        if isinstance(voters, str) or not isinstance(voters, Iterable):
            raise StudyError(f"The voters are a list of names, not {brief(voters)}.")
        voters = list(voters)
        if wrong := [voter for voter in voters if not isinstance(voter, (str, Mapping))]:
            raise StudyError(f"A voter is a name, or a mapping with a name, not {brief(wrong[0])}.")
        named = [{"name": voter} if isinstance(voter, str) else dict(voter) for voter in voters]
        body = {"name": name, "problem": tree_of(problem), "settings": dict(settings or {}), "voters": named}
        made = self.call("POST", "/studies", body, token=self._key)
        invited = tuple(values.made(Invited, voter) for voter in made["voters"])
        return Organiser(self, made["study"], made["organiser_token"], invited)

    def organiser(self, study: str, token: str) -> Organiser:
        """Return a study as its organiser sees it, by the token of an organiser's link."""
        return Organiser(self, study, token)

    def voter(self, study: str, token: str) -> Voter:
        """Return a study as a voter sees it, by the token of the voter's link."""
        return Voter(self, study, token)

    def join(self, study: str, token: str) -> Voter:
        """Become a voter of a study, by the token of an open link."""
        made = self.call("POST", f"/studies/{quote(study, safe='')}/join", token=token)
        return Voter(self, study, made["token"])

    def call(
        self,
        method: Literal["GET", "POST"],
        path: str,
        body: Any = None,
        token: str | None = None,
        again: bool = False,
    ) -> Any:
        """Call an operation below ``/api/v1``; return what it says, as JSON has it, or as text.

        With ``again`` it is sent once more if the response gets lost: only for what can be sent twice.

        :raises NotAllowedError: if the token cannot be one; it is not shown.
        """
        if token is not None and not TOKEN.fullmatch(token):
            raise NotAllowedError(
                "That is no token: it has a space, a line break or a letter that tokens do not have. Give"
                " the last part of the link alone."
            )
        deadline, wait = monotonic() + self._patience, 1.0
        while True:
            try:
                status, headers, data = self._send(method, path, body, token)
            except (OSError, HTTPException) as error:
                if not (again or method == "GET") or monotonic() + wait > deadline:
                    raise ServerError(f"{self._parts.netloc} does not answer: {_why(error)}") from error
            else:
                if status < 300:
                    return _content(headers.get("content-type", ""), data)
                refused = _refusal(status, data)
                if str(refused) == NO_SUCH_PAGE:
                    refused = ServerError(
                        f"{self._parts.geturl()} has no studies: is it the address of a duelmatch server, "
                        "without the path of a page?"
                    )
                wait = float(after) if (after := headers.get("retry-after", "")).isdecimal() else wait
                can_wait = status == 429 or (status == 503 and (again or method == "GET"))
                if not can_wait or monotonic() + wait > deadline:
                    raise refused
            sleep(wait)
            wait = min(2 * wait, 10.0)

    def _send(self, method: str, path: str, body: Any, token: str | None) -> tuple[int, HTTPMessage, bytes]:
        make = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = make(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        with closing(connection):
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, f"{self._parts.path.rstrip('/')}/api/v1{path}", data, headers)
            response: HTTPResponse = connection.getresponse()
            received = response.read(LARGEST_RESPONSE + 1)
            if len(received) > LARGEST_RESPONSE:
                raise ServerError(f"{self._parts.netloc} sends more than {LARGEST_RESPONSE:,} bytes.")
            return response.status, response.headers, received


class _OfStudy:
    """A study, by one of its links."""

    def __init__(self, client: Client, study: str, token: str) -> None:
        self.id, self.token = study, token
        self._client = client

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of study {self.id}>"  # and not the token

    def _get(self, path: str = "", **query: object) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        path = f"{path}?{urlencode(given)}" if given else path
        return self._client.call("GET", f"/studies/{quote(self.id, safe='')}{path}", token=self.token)

    def _post(self, path: str, body: Any = None, again: bool = False) -> Any:
        path = f"/studies/{quote(self.id, safe='')}{path}"
        return self._client.call("POST", path, body, self.token, again)

    def problem(self) -> Problem:
        """Return what is being decided, with titles, texts, pictures and links."""
        return read_problem(json.dumps(self._get()["problem"]), ".json")

    def progress(self) -> StudyProgress:
        """Return how far the study has come."""
        return values.made(StudyProgress, self._get("/progress"))


class Voter(_OfStudy):
    """A voter: asks for questions and answers them."""

    def ask(self) -> Question | NoQuestion:
        """Return my open question, or the next; asked again, it is the same."""
        return values.question(self._post("/question", again=True))

    def tell(self, question: Question, answer: Answer) -> AnswerReceipt:
        """Answer: the better one, None for no difference, or a ranking. Sent twice, it counts once."""
        number, body = values.number_of(question), {"answer": values.said(answer)}
        return values.made(AnswerReceipt, self._post(f"/questions/{number}/answer", body, again=True))

    def skip(self, question: Question, reason: str = "") -> None:
        """Pass on a question."""
        self._post(f"/questions/{values.number_of(question)}/skip", {"reason": reason}, again=True)

    def undo(self, receipt: AnswerReceipt) -> Question | NoQuestion:
        """Take my last answer back; its question is open again."""
        if not isinstance(receipt, AnswerReceipt):
            raise StudyError(f"What is taken back is the receipt that tell() returned, not {receipt!r:.80}.")
        return values.question(self._post("/undo", {"number": receipt.number}, again=True))

    def receipt(self, number: int) -> AnswerReceipt:
        """Return the receipt of my answer to a question once more."""
        return values.made(AnswerReceipt, self._get(f"/receipts/{number}"))

    def conflict(self, candidates: Sequence[str]) -> None:
        """Say whom I cannot judge."""
        self._post("/conflicts", {"candidates": list(candidates)}, again=True)


class Organiser(_OfStudy):
    """An organiser: watches a study, and looks after its voters, candidates and answers."""

    def __init__(self, client: Client, study: str, token: str, invited: tuple[Invited, ...] = ()) -> None:
        super().__init__(client, study, token)
        self.invited = invited
        """The voters with whom the study was created, if it was created here."""

    def result(self, wait: float = 3) -> StudyResult:
        """Return who should fill what, and how sure that is.

        Where there is no estimate yet (``standings``), the server waits for it, ``wait`` seconds, 0 to 3.
        """
        return values.result(self._get("/result", wait=wait))

    def standings(self, wait: float = 3) -> StudyStandings | None:
        """Return the estimate of who is best, as far as it has been computed."""
        return self.result(wait).standings

    def voters(self) -> Iterator[StudyVoter]:
        """Yield the voters in the order in which they joined, page by page."""
        return self._pages("/voters", StudyVoter, "after", lambda voter: voter.id)

    def answers(self, voter: str | None = None) -> Iterator[StudyAnswer]:
        """Yield the answers, the latest first, of all voters or of one, page by page."""
        return self._pages("/answers", StudyAnswer, "before", lambda answer: answer.entry, voter=voter)

    def _pages(
        self, path: str, kind: type[Made], by: str, place: Callable[[Made], object], **query: object
    ) -> Iterator[Made]:
        last: object = None
        while True:
            page = [values.made(kind, each) for each in self._get(path, limit=PAGE, **{by: last}, **query)]
            yield from page
            if len(page) < PAGE:
                return
            last = place(page[-1])

    def invite(self, name: str | None = None, weight: int = 1, conflicts: Sequence[str] = ()) -> Invited:
        """Add a voter."""
        return values.made(
            Invited, self._post("/voters", {"name": name, "weight": weight, "conflicts": list(conflicts)})
        )

    def open_link(self, judges: bool = False) -> str:
        """Return the token of a link by which anybody can join; of a panel, only with ``judges``."""
        return str(self._post("/open-link", {"judges": judges})["token"])

    def strike(self, voter: str) -> None:
        """Let no answer of a voter count."""
        self._post(f"/voters/{quote(voter, safe='')}/strike")

    def reinstate(self, voter: str) -> None:
        """Let the answers of a voter count again."""
        self._post(f"/voters/{quote(voter, safe='')}/reinstate")

    def leave(self, voter: str, open_answers: Literal["open", "dropped"] = "open") -> None:
        """Ask a voter nothing more; what they have not said stays open, or is not counted."""
        self._post(f"/voters/{quote(voter, safe='')}/leave", {"open_answers": open_answers})

    def drop(self, candidate: str) -> None:
        """Take out a candidate who withdrew."""
        self._post("/drop", {"candidate": candidate})

    def add(self, candidate: str, positions: Sequence[str]) -> None:
        """Take in a late candidate."""
        self._post("/add", {"candidate": candidate, "positions": list(positions)})

    def change_phase(self, action: Literal["pause", "resume", "close", "reopen"]) -> None:
        """Pause, resume, close or reopen the study."""
        self._post(f"/phase/{action}")

    def set_webhook(self, url: str) -> str:
        """Have an address called when something is decided; return the secret that signs what is sent."""
        return str(self._post("/webhook", {"url": url})["secret"])

    def export(self, layout: Literal["log", "csv", "table"] = "log", people: bool = False) -> str:
        """Return the log, for `duelmatch verify`, or the answers as CSV."""
        return str(self._get("/export", format=layout, people=str(people).lower()))


def _why(error: OSError | HTTPException) -> str:
    """Say why there is no answer, without the number that a system has for it."""
    if isinstance(error, ConnectionRefusedError):
        return "no server listens there. Is the address right, and the server running?"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{said.rstrip('.'):.200}."


def _content(kind: str, data: bytes) -> Any:
    if not data:
        return None
    try:
        if kind.partition(";")[0].strip() != "application/json":
            return data.decode()
        return json.loads(data)
    except ValueError as error:
        raise ServerError(f"The server says what is not understood: {error!s:.100}.") from None


def _refusal(status: int, data: bytes) -> DuelmatchError:
    """Return what is raised when the server refuses, with its sentence if it has one."""
    try:
        said = json.loads(data)["detail"]
    except (ValueError, KeyError, TypeError):
        return ServerError(f"The server answers with status {status}, and does not say why.")
    kind = ServerError if status == 429 or status >= 500 else REFUSALS.get(status, StudyError)
    return kind(str(said))

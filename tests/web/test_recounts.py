"""What takes long to count is worked out in the worker process, before the transaction that needs it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

import duelmatch as dm
from conftest import PROBLEM
from duelmatch import panel
from duelmatch.errors import StudyError
from duelmatch.explorers.ballots import conclusions
from duelmatch.explorers.ballots.evidence import Evidence
from duelmatch.explorers.panel.projection import Projection
from duelmatch.matchings import counted, counters, counting
from duelmatch.studies import NewVoter, Question, Settings, Store, state
from duelmatch.web import Config, worker
from web.running import served


def sparse(candidates: int, positions: int) -> dict[str, Any]:
    """Return a problem without rules in which not everybody can hold everything."""
    held = {
        f"p{p}": [f"c{c}" for c in range(candidates) if (c * c + 3 * p * c + p) % 7 > 1]
        for p in range(positions)
    }
    return {"candidates": [f"c{c}" for c in range(candidates)], "edges": held}


SPARSE = sparse(14, 12)
"""Small enough to be counted in no time, and large enough to be counted elsewhere."""

RULED = {
    "candidates": [f"c{c}" for c in range(12)],
    "positions": ["p0", "p1", "p2"],
    "rules": [{"of": ["c0", "c1"], "at_most": 1}],
}


class Caller:
    """Talks to one study over HTTP."""

    def __init__(self, address: str, study: str, token: str) -> None:
        self._base, self._headers = f"{address}/api/v1/studies/{study}", {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(self._base + path, headers=self._headers, trust_env=False, timeout=300)

    def post(self, path: str, body: dict[str, Any] | None = None) -> httpx2.Response:
        return httpx2.post(
            self._base + path, json=body or {}, headers=self._headers, trust_env=False, timeout=300
        )

    def vote(self) -> httpx2.Response:
        asked = self.post("/question").json()
        assert "number" in asked, asked
        return self.post(f"/questions/{asked['number']}/answer", {"answer": asked["candidates"][0]})


def counted_so_far(organiser: Caller) -> dict[str, Any]:
    """Return the progress, without what an estimate says later."""
    progress = organiser.get("/progress").json()
    return {key: value for key, value in progress.items() if key not in ("estimated", "answers_left_range")}


@pytest.fixture
def no_counting_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted in this process: the worker is another one."""

    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("something was counted in the server")

    monkeypatch.setattr(counting, "_marginals_of_block", refuse)
    monkeypatch.setattr(counting, "_count_block", refuse)
    monkeypatch.setattr(counters.Counters, "__init__", refuse)
    monkeypatch.setattr(counted, "_kept", type(counted._kept)())


@pytest.mark.usefixtures("no_counting_here")
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"algorithm": "borda"}, SPARSE),
        ({"algorithm": "borda"}, RULED),
        ({"algorithm": "panel", "parameters": {"criterion": "borda"}}, SPARSE),
    ],
    ids=["marginals", "ruled", "panel"],
)
def test_the_server_itself_counts_nothing(
    settings: dict[str, Any], problem: dict[str, Any], tmp_path: Path
) -> None:
    """Whatever an organiser does, and after a restart."""
    new = {"name": "x", "problem": problem, "settings": settings, "voters": [{"name": n} for n in "abc"]}
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        created = httpx2.post(f"{address}/api/v1/studies", json=new, trust_env=False, timeout=300)
        assert created.status_code == 201, created.text
        made = created.json()
        organiser = Caller(address, made["study"], made["organiser_token"])
        tokens, ids = ([voter[key] for voter in made["voters"]] for key in ("token", "voter"))
        voters = [Caller(address, made["study"], token) for token in tokens]
        acts: list[Callable[[], httpx2.Response]] = [
            lambda: organiser.post("/preview", {"drop": "c2"}),
            lambda: organiser.post("/drop", {"candidate": "c2"}),
            lambda: organiser.post("/add", {"candidate": "late", "positions": ["p0", "p1"]}),
            lambda: organiser.post(f"/voters/{ids[1]}/strike"),
            lambda: organiser.post(f"/voters/{ids[1]}/reinstate"),
            lambda: organiser.post("/voters", {"name": "d"}),
            lambda: organiser.post("/drop", {"candidate": "c3"}),
            lambda: organiser.post("/duplicate", {"name": "y"}),
            lambda: organiser.get("/result"),
            lambda: organiser.get("/progress"),
        ]
        for number, act in enumerate(acts):
            answer = voters[number % 2 * 2].vote()
            assert answer.status_code == 200, answer.text
            answer = act()
            assert answer.status_code < 300, (number, answer.text)
        before = counted_so_far(organiser)
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        assert counted_so_far(Caller(address, made["study"], made["organiser_token"])) == before
        assert Caller(address, made["study"], tokens[0]).vote().status_code == 200


def test_a_change_that_takes_too_long_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        problem = sparse(20, 18)  # some 20 milliseconds
        new = {"name": "x", "problem": problem, "settings": {"algorithm": "borda"}, "voters": [{"name": "a"}]}
        made = httpx2.post(f"{address}/api/v1/studies", json=new, trust_env=False, timeout=300).json()
        organiser = Caller(address, made["study"], made["organiser_token"])
        monkeypatch.setattr(worker, "LONGEST_RECOUNT", 0.001)
        refused = organiser.post("/drop", {"candidate": "c2"})
        assert (refused.status_code, "0.001 seconds" in refused.json()["detail"]) == (422, True)
        assert organiser.get("/result").json()["dropped"] == []
        assert Caller(address, made["study"], made["voters"][0]["token"]).vote().status_code == 200
        monkeypatch.undo()
        assert organiser.post("/drop", {"candidate": "c2"}).status_code < 300


def test_others_vote_while_a_change_is_worked_out(tmp_path: Path) -> None:
    """Before, everybody's answer waited for a candidate who withdrew from another study."""
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        new = {"name": "x", "problem": SPARSE, "settings": {"algorithm": "borda"}}
        made = httpx2.post(f"{address}/api/v1/studies", json=new, trust_env=False, timeout=300).json()
        slow = Caller(address, made["study"], made["organiser_token"])
        quick = store.create(PROBLEM, Settings("condorcet"), "quick")
        voter = Caller(address, quick.id, quick.new_link("voter", quick.add_voter()))
        answers: list[httpx2.Response] = []
        dropping = threading.Thread(target=lambda: answers.append(slow.post("/drop", {"candidate": "c2"})))
        with worker.worker._lock:  # as if it took as long as we like
            dropping.start()
            time.sleep(0.5)
            assert voter.vote().status_code == 200
            assert slow.post("/voters", {"name": "b"}).status_code == 201, "and its own study goes on"
            assert dropping.is_alive()
        dropping.join()
        assert answers[0].status_code < 300


def test_many_slow_changes_of_one_study_do_not_take_all_threads(tmp_path: Path) -> None:
    """Before, each of them waited in a thread, and nobody else was served."""
    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)) as address:
        new = {"name": "x", "problem": SPARSE, "settings": {"algorithm": "borda"}}
        made = httpx2.post(f"{address}/api/v1/studies", json=new, trust_env=False, timeout=300).json()
        slow = Caller(address, made["study"], made["organiser_token"])
        assert slow.get("/progress").status_code == 200
        goes_on, elsewhere = threading.Event(), store.states.elsewhere

        def patiently(work: Callable[[], Any]) -> Any:
            goes_on.wait(30)
            return elsewhere(work) if elsewhere else work()

        store.states.elsewhere = patiently
        answers: list[httpx2.Response] = []
        drop = [
            threading.Thread(target=lambda: answers.append(slow.post("/drop", {"candidate": "c2"})))
            for _ in range(45)
        ]
        for thread in drop:
            thread.start()
        for _ in range(150):
            time.sleep(0.1)
            if len(answers) >= len(drop) - 3:
                break
        assert slow.get("/progress").status_code == 200, "there are threads for others"
        goes_on.set()
        for thread in drop:
            thread.join()
        refused = [answer for answer in answers if answer.status_code != 204]
        assert len(refused) == len(drop) - 3
        assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(429, "5")}
        assert "Wait a moment" in refused[0].json()["detail"]
        assert slow.get("/result").json()["dropped"] == ["c2"]
        assert slow.post("/drop", {"candidate": "c3"}).status_code == 204, "nobody waits any more"


def test_many_judges_at_once_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, a list of a thousand held up every study of the store for as long as a thousand counts take."""
    begun = []
    begin = Projection.__init__
    monkeypatch.setattr(
        Projection, "__init__", lambda self, *rest: (begun.append(self), begin(self, *rest))[1]
    )
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        study = store.create(PROBLEM, Settings("panel"), "x", ["eve", "ned"])
        study.status()
        before = len(begun)
        ids = study.add_voters([NewVoter(f"judge {number}", conflicts=["ann"]) for number in range(200)])
        assert len(begun) - before <= 1
        assert len(study.voters()) == 202
        assert isinstance(study.ask(ids[-1]), Question)
        monkeypatch.setattr(state, "MOST_OPINIONS", 210 * PROBLEM.graph.pairs)
        with pytest.raises(StudyError, match="Have fewer judges"):
            study.add_voters([NewVoter(f"one more {number}") for number in range(9)])
        with pytest.raises(StudyError, match="Have fewer judges"):
            study.add("late", ["chair", "editor"])
        assert len(study.voters()) == 202
        study.add_voter("the last but 7")


def test_judges_of_few_of_many_candidates_are_marked_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, every pair was looked at for each candidate that somebody does not judge."""
    marked = []
    excluded = panel._excluded
    monkeypatch.setattr(panel, "_excluded", lambda *given: (marked.append(1), excluded(*given))[1])
    names = [f"c{number}" for number in range(50)]
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        study = store.create(dm.Problem.complete(names, ["p"]), Settings("panel"), "x", ["eve"])
        study.add_voters([NewVoter(only=["c1", "c2"]) for _ in range(5)])
        assert len(marked) <= 10
        study.drop("c7")
        marked.clear()
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        assert store.study(study.id).status().voters == 6
        assert len(marked) <= 10


def test_too_many_judges_are_refused_before_their_conflicts_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        study = store.create(PROBLEM, Settings("panel"), "x", ["eve"])
        judge = study.add_voters([NewVoter(only=["ann"])])[0]
        monkeypatch.setattr(state, "MOST_CONFLICTS", 8)
        with monkeypatch.context() as patched:
            patched.setattr(NewVoter, "checked", None)
            with pytest.raises(StudyError, match="let each judge more candidates"):
                study.add_voters([NewVoter(only=["ann"]), NewVoter(conflicts=["ann", "bob", "cyd"])])
            with pytest.raises(StudyError, match="let each judge more candidates"):
                store.create(PROBLEM, Settings("panel"), "x", [NewVoter(only=["ann"])] * 3)
            patched.setattr(state, "MOST_OPINIONS", 0)
            with pytest.raises(StudyError, match="Have fewer judges"):
                study.add_voters([NewVoter(only=["ann"])])
        study.add_voters([NewVoter(only=["ann"]), NewVoter(conflicts=["ann"])])
        study.conflict(judge, ["bob"])
        study.conflict(judge, ["ann"])
        with pytest.raises(StudyError, match="let each judge more candidates"):
            study.conflict(study.voters()[0].id, ["ann"])


def test_votes_are_not_settled_anew_where_others_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Striking a voter counts all ballots again, which takes seconds where there are many."""
    monkeypatch.setattr(conclusions, "AT_ONCE", 0)
    settled: list[str] = []
    settle = Evidence.settle

    def noted(self: Evidence, *arguments: Any) -> None:
        settled.append(threading.current_thread().name)
        settle(self, *arguments)

    with Store(f"sqlite:///{tmp_path}/x.db") as store, served(store, Config(rates=None)):
        study = store.create(PROBLEM, Settings("condorcet", delta=1e-9, seed=1), "x")
        voters = [study.add_voter() for _ in range(12)]
        for voter in voters:
            question = study.ask(voter)
            while isinstance(question, Question):
                study.tell(voter, question.number, question.candidates[0])
                question = study.ask(voter)
        monkeypatch.setattr(Evidence, "settle", noted)
        acts: list[Callable[[], object]] = [
            lambda: study.strike(voters[0]),
            lambda: study.strike(voters[1]),
            lambda: study.reinstate(voters[0]),
            lambda: study.correct(20, None),
            lambda: study.drop("ann"),
            lambda: study.add("late", ["chair"]),
        ]
        for act in acts:
            act()
            study.ask(voters[5])
        live = study.status()
        assert [name for name in settled if name.startswith("duelmatch-writer")] == []
    with Store(f"sqlite:///{tmp_path}/x.db") as store:
        assert store.study(study.id).status() == live
        assert settled, "as reading the study does"

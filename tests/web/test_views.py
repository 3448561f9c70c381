"""What a dashboard shows, from the first vote to the last, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

import duelmatch as dm
from duelmatch.instances import example
from duelmatch.problem import Details
from duelmatch.studies import Question, Settings, Store, Study
from duelmatch.web.api import MOST_PAIRS_ESTIMATED
from duelmatch.web.ballots import PER_PAGE, Ballots
from duelmatch.web.names import Names
from duelmatch.web.views import Dashboard
from duelmatch.web.words import votes_to_expect
from web.running import served

LINEUP = example("lineup")
TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
BEST = {"chair": "bob", "editor": "ann"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        yield store


def play(study: Study, prefers: Callable[[Question], bool], votes: int = 20_000) -> Iterator[Dashboard]:
    """Let somebody vote until the study is over; give the dashboard after every tenth vote."""
    voter = study.add_voter()
    for number in range(votes):
        question = study.ask(voter)
        if not isinstance(question, Question):
            return
        study.tell(voter, question.number, question.left if prefers(question) else question.right)
        if number % 10 == 0:
            yield Dashboard.of(study)


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_a_study_is_watched_to_its_end(store: Store, algorithm: str) -> None:
    study = store.create(TEAM, Settings(algorithm, delta=0.2, parameters={"batch": 1}), "Team")
    first = Dashboard.of(study)
    assert first.headline == "Waiting for the first vote"
    assert first.curve is None
    assert [race.leader for race in first.races] == [None, None]
    for view in play(study, lambda question: BEST[question.position] != question.right):
        assert view.curve is not None
        assert 0 <= (view.sure or 0.0) <= 1
        for race in view.races:
            assert race.leader is not None
            assert race.leader not in race.others
    view = Dashboard.of(study)
    assert view.headline == "The result is in"
    assert {race.position.name: race.leader.name for race in view.races if race.leader} == BEST
    assert not any(race.others for race in view.races)
    assert view.sure == pytest.approx(0.8)
    assert view.curve is not None
    assert view.curve.now == "80.0%"
    assert view.graph is not None
    assert {
        (line.candidate.name, line.position.name) for line in view.graph.lines if line.kind == "accepted"
    } == {(candidate, position) for position, candidate in BEST.items()}


def test_where_nothing_beats_everything_nobody_is_chosen(store: Store) -> None:
    beats = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    problem = dm.Problem.complete(["rock", "paper", "scissors"], ["prize"])
    study = store.create(
        problem, Settings("condorcet", seed=0, parameters={"assume_winner": False}), "A cycle"
    )
    list(play(study, lambda question: (question.left, question.right) in beats))
    view = Dashboard.of(study)
    assert view.headline == "No line-up beats every other"
    assert [(race.leader, race.others) for race in view.races] == [(None, [])]


def test_a_page_does_not_wait_for_a_long_study(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was just started has to go through all votes first."""
    monkeypatch.setattr("duelmatch.web.pages.MOST_UNSEEN", 50)
    study = store.create(LINEUP.problem, Settings("car-cond"), "Line-up")
    list(play(study, lambda question: True, 60))
    with (
        Store(f"sqlite:///{tmp_path}/duels.db") as started,
        served(started) as address,
        httpx2.Client(base_url=address, trust_env=False, follow_redirects=True) as client,
    ):
        page = client.get(f"/l/{study.new_key('organiser')}").text
        assert "Going through the votes" in page
        assert 'id="standing"' not in page
        assert 'id="standing"' in client.get(f"/studies/{study.id}/live").text
        assert 'id="standing"' in client.get(f"/studies/{study.id}").text


def test_titles_are_shown_and_told_apart() -> None:
    problem = dm.Problem(
        ("ann", "bob", "cyd"),
        ("chair",),
        (("ann", "chair"), ("bob", "chair"), ("cyd", "chair")),
        {
            "ann": Details(title="The boss"),
            "bob": Details(title="The boss"),
            "cyd": Details(text="Likes cake."),
        },
        {"chair": Details(title="Chair of the meeting")},
    )
    names = Names.of(problem)
    assert [str(who) for who in names.candidates.values()] == ["The boss (ann)", "The boss (bob)", "cyd"]
    assert str(names.positions["chair"]) == "Chair of the meeting"


def test_votes_are_listed_in_pages_with_why_they_do_not_count(store: Store) -> None:
    study = store.create(LINEUP.problem, Settings("condorcet", seed=0), "Line-up")
    list(play(study, lambda question: True, PER_PAGE + 3))
    other = study.add_voter("Eve")
    question = study.ask(other)
    assert isinstance(question, Question)
    study.tell(other, question.number, None)
    study.invalidate(other)
    study.correct(PER_PAGE, None)
    page = Ballots.of(study, 10**6, None)
    assert len(page.rows) == PER_PAGE
    assert page.rows[0].voter == "Eve"
    assert page.rows[0].vote.tie
    assert {row.vote.question: row.uncounted for row in page.rows if row.uncounted} == {
        question.number: "the voter's answers do not count",
        PER_PAGE: "struck out",
    }
    assert page.older is not None
    older = Ballots.of(study, page.older, None)
    assert [row.vote.question for row in older.rows] == [4, 3, 2, 1]
    assert older.older is None
    assert [row.vote.question for row in Ballots.of(study, 10**6, other).rows] == [question.number]


def test_many_unused_votes_are_explained(store: Store) -> None:
    study = store.create(LINEUP.problem, Settings("condorcet", seed=0), "Line-up")
    list(play(study, lambda question: question.left < question.right, 80))
    assert not Dashboard.of(study).many_unused
    study.drop("comets")
    view = Dashboard.of(study)
    assert view.status.unused > view.status.counted // 5
    assert view.many_unused


def test_the_votes_to_expect_are_known_for_thirty_candidates_and_ten_positions() -> None:
    problem = dm.Problem.complete([f"c{n}" for n in range(30)], [f"p{n}" for n in range(10)])
    assert problem.graph.pairs <= MOST_PAIRS_ESTIMATED
    votes = votes_to_expect(problem, "condorcet", 0.05, seconds=60)
    assert votes is not None
    assert 10_000 < votes < 200_000
    assert votes_to_expect(problem, "condorcet", 0.05, seconds=-1) is None

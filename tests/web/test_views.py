"""What a dashboard shows, from the first vote to the last, without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import duelmatch as dm
from duelmatch.instances import example
from duelmatch.problem import Details
from duelmatch.studies import (
    Nothing,
    Question,
    Settings,
    Store,
    Study,
    exchange,
    export_table,
    exported_log,
)
from duelmatch.studies.hints import Hints
from duelmatch.verify import verify
from duelmatch.web.answer_pages import PER_PAGE, AnswerPage
from duelmatch.web.models import Outcome
from duelmatch.web.names import Names
from duelmatch.web.pages import templates
from duelmatch.web.views import VOTERS_SHOWN, Dashboard

LINEUP = example("lineup")
TEAM = dm.Problem.complete(["ann", "bob", "cyd"], ["chair", "editor"])
BEST = {"chair": "bob", "editor": "ann"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path}/duels.db") as store:
        yield store


def play(
    study: Study, prefers: Callable[[str, str], str], answers: int = 20_000, per_voter: int = 10
) -> Iterator[Dashboard]:
    """Let voters come and vote until the study is over; give the dashboard after every tenth vote."""
    voter, given = study.add_voter(), 0
    while given < answers:
        question = study.ask(voter)
        if not isinstance(question, Question):
            if question.reason != "all yours":
                return
            voter = study.add_voter()
            continue
        liked = prefers(question.position, *question.candidates)  # type: ignore[call-arg]
        study.tell(voter, question.number, liked)
        given += 1
        if given % 10 == 1:
            yield Dashboard(study)


def best(position: str, one: str, other: str) -> str:
    """Prefer the best; between others, the first in the alphabet."""
    return BEST[position] if BEST[position] in (one, other) else min(one, other)


@pytest.mark.parametrize("algorithm", ["condorcet", "borda"])
def test_a_crowd_is_watched_to_its_end(store: Store, algorithm: str) -> None:
    study = store.create(TEAM, Settings(algorithm, delta=0.2, parameters={}), "Team")
    first = Dashboard(study)
    assert first.headline == "Waiting for the first vote"
    assert first.curve is None
    assert [race.leaders for race in first.races] == [[], []]
    for view in play(study, best):
        assert view.curve is not None
        assert view.proven is None or 0.5 <= view.proven <= 1
        for race in view.races:
            (leader,) = race.leaders
            assert leader not in race.others
    view = Dashboard(study)
    assert view.headline == "The result is in"
    assert "wrong at most 1 time in 5" in view.explanation
    assert {race.position.name: race.leaders[0].name for race in view.races} == BEST
    assert not any(race.others for race in view.races)
    assert (view.proven, view.standings) == (None, None)
    assert view.kind == "Certified: results like this are wrong at most 1 time in 5."
    assert view.curve is not None
    assert view.graph is not None


def test_a_panel_that_skipped_everything_is_not_called_certain_and_has_a_way_out(store: Store) -> None:
    study = store.create(dm.Problem.complete(["ann", "bob"], ["chair"]), None, "Team", ["eve", "ned"])
    for voter in study.voters():
        study.skip(voter.id, study.ask(voter.id).number)  # type: ignore[union-attr]
    assert [study.ask(voter.id) for voter in study.voters()] == [Nothing("all yours")] * 2
    view = Dashboard(study)
    assert (view.status.done, view.status.certain, view.headline) == (
        True,
        False,
        "Nothing more can be asked",
    )
    assert "There are no votes. Nobody can be asked anything more. What would help:" in view.explanation
    for voter in study.voters():
        study.leave(voter.id, "dropped")
    late = study.add_voter("zoe")
    study.tell(late, study.ask(late).number, "ann")  # type: ignore[union-attr]
    assert (Dashboard(study).headline, study.ask(late)) == ("The result is in", Nothing("done"))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(questions_each=1), "Nobody can be asked anything more. What would help: “Has left”"),
        (Settings(max_answers=3), "As many votes as were planned are in. What would help: “Has left”"),
        (
            Settings("condorcet", max_answers=3),
            "Nothing is proven, and as many votes as were planned are in.",
        ),
    ],
)
def test_a_study_without_questions_left_says_that_it_is_not_certain(
    store: Store, settings: Settings, says: str
) -> None:
    study = store.create(TEAM, settings, "Team", ["eve", "ned", "zoe"])
    for voter in study.voters():
        question = study.ask(voter.id)
        study.tell(voter.id, question.number, question.candidates[0])  # type: ignore[union-attr]
    view = Dashboard(study)
    assert (view.status.done, view.status.certain) == (True, False)
    assert says in view.explanation
    assert any(race.others for race in view.races), "nobody is chosen yet"
    if view.is_panel:
        for voter in study.voters():
            study.leave(voter.id, "dropped")
        assert Dashboard(study).status.certain, "what was said to help does"


@pytest.mark.parametrize("criterion", ["condorcet", "borda"])
def test_a_panel_is_watched_to_its_end(store: Store, criterion: str) -> None:
    study = store.create(TEAM, Settings(parameters={"criterion": criterion}), "Team", ["eve", "ned", "zoe"])
    first = Dashboard(study)
    assert (first.headline, first.wrong, first.proven) == ("Waiting for the first vote", None, None)
    assert first.kind == "No answer yet: there are no votes."
    assert "Nobody leads" in first.explanation
    for _ in range(20):
        for voter in study.voters():
            question = study.ask(voter.id)
            if isinstance(question, Question):
                study.tell(voter.id, question.number, best(question.position, *question.candidates))
                view = Dashboard(study)
                assert view.is_panel
                may = (
                    "another could be ahead" in view.explanation,
                    "others may draw level" in view.explanation,
                )
                bound = view.status.shortfall
                assert view.status.certain or may == (bool(bound), not bound)
    view = Dashboard(study)
    assert view.headline == "The result is in"
    assert {race.position.name: race.leaders[0].name for race in view.races} == BEST
    assert view.status.shortfall == 0.0
    assert view.kind.startswith("Decided by this panel: the votes were counted")
    assert view.curve is not None
    assert view.curve.now == "100.0%"
    assert view.graph is not None
    assert {
        (line.candidate.name, line.position.name) for line in view.graph.lines if line.kind == "accepted"
    } == {(candidate, position) for position, candidate in BEST.items()}


@pytest.mark.parametrize("algorithm", ["panel", "condorcet"])
def test_before_anything_is_certain_there_is_an_estimate(store: Store, algorithm: str) -> None:
    study = store.create(TEAM, Settings(algorithm), "Team", ["eve", "ned", "zoe", "kim", "leo"])
    for voter in study.voters():
        question = study.ask(voter.id)
        assert isinstance(question, Question)
        study.tell(voter.id, question.number, best(question.position, *question.candidates))
    view = Dashboard(study, estimates=study.estimates(0.2))
    assert not view.status.certain
    assert view.kind == "Leading by estimate: it is not decided, and more votes could change it."
    assert "By an estimate from the votes so far" in view.explanation
    assert view.left != "not known yet"
    for race in view.races:
        assert [each.who for each in race.contenders if each.leads] == race.leaders
        assert race.word in ("ahead", "wide open", "clear lead")
        assert sum(each.share or 0 for each in race.contenders) == pytest.approx(1, abs=0.02)
    assert bool(view.needed) == view.is_panel
    assert sum(answers for _, _, _, answers in view.needed) == (view.status.progress.fewest_questions or 0)
    assert view.hints == {} or not view.is_panel or all(view.hints.values())


def test_a_panel_without_a_winner_names_the_least_beaten(store: Store) -> None:
    orders = {"eve": "rps", "ned": "psr", "zoe": "srp"}
    problem = dm.Problem.complete(["r", "p", "s"], ["prize"])
    study = store.create(problem, Settings(), "A cycle", list(orders))
    for _ in range(10):
        for voter in study.voters():
            question = study.ask(voter.id)
            if isinstance(question, Question):
                liked = min(question.candidates, key=orders[voter.name or ""].index)
                study.tell(voter.id, question.number, liked)
    view = Dashboard(study)
    assert view.headline == "No line-up beats every other"
    assert "beaten least: its share of the votes is at most 16.7 votes in 100" in view.explanation
    assert view.races[0].leaders


def test_votes_of_struck_voters_are_counted_apart(store: Store) -> None:
    study = store.create(TEAM, Settings(), "Team", ["eve", "ned"])
    for voter in study.voters():
        question = study.ask(voter.id)
        assert isinstance(question, Question)
        study.tell(voter.id, question.number, None)
    study.strike(study.voters()[0].id)
    view = Dashboard(study)
    assert (view.status.counted, view.status.struck) == (1, 1)
    assert not view.many_unused


def test_a_large_study_is_shown_in_a_moment(store: Store) -> None:
    """Everybody at every position was compared with everybody who may win anything: that took seconds."""
    many = [f"c{number:03}" for number in range(240)]
    edges = [(many[(place + step) % 240], f"p{place}") for place in range(240) for step in range(20)]
    problem = dm.Problem(tuple(many), tuple(f"p{place}" for place in range(240)), tuple(edges))
    study = store.create(problem, Settings("condorcet"), "Large")
    next(play(study, lambda position, one, other: min(one, other), 1))
    begin = time.process_time()
    view = Dashboard(study)
    assert time.process_time() - begin < 0.5
    for race in view.races:
        possible = [edge[0] for edge in edges if edge[1] == race.position.name]
        assert sorted(who.name for who in [*race.leaders, *race.others]) == sorted(possible)
        assert [who.name for who in race.others] == sorted(who.name for who in race.others)


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
    list(play(study, lambda position, one, other: min(one, other), PER_PAGE + 3))
    eve = study.add_voter("Eve")
    question = study.ask(eve)
    assert isinstance(question, Question)
    study.tell(eve, question.number, None)
    study.strike(eve)
    numbers = [given.question for given in study.answers(limit=None)]
    struck = numbers[3]
    study.correct(struck, None)
    page = AnswerPage(study, 10**6, None)
    assert len(page.rows) == PER_PAGE
    assert page.rows[0].voter == "Eve"
    assert page.rows[0].said.startswith("no difference between <bdi>"), "each name is isolated by itself"
    assert page.rows[1].reversed == page.rows[1].given.answer[::-1]
    assert {row.given.question: row.uncounted for row in page.rows if row.uncounted} == {
        question.number: "all votes of this voter are struck out",
        struck: "struck out",
    }
    assert page.older is not None
    older = AnswerPage(study, page.older, None)
    assert [row.given.question for row in older.rows] == numbers[PER_PAGE:]
    assert older.older is None
    assert [row.given.question for row in AnswerPage(study, 10**6, eve).rows] == [question.number]


def test_a_panel_without_judges_has_decided_nothing(store: Store) -> None:
    study = store.create(TEAM, Settings(), "x", ["Eve"])
    (eve,) = study.voters()
    question = study.ask(eve.id)
    assert isinstance(question, Question)
    study.tell(eve.id, question.number, question.candidates[0])
    study.strike(eve.id)
    view = Dashboard(study)
    assert view.explanation == "Nothing is decided: there is no judge whose votes count."
    assert view.headline == "Nothing more can be asked"
    assert all(not race.leaders for race in view.races)


def test_only_what_counts_is_counted(store: Store) -> None:
    """Not a struck judge's votes, those about somebody who withdrew, nor those despite a conflict."""
    pair = dm.Problem.from_edges([("ann", "chair"), ("bob", "chair"), ("cyd", "editor"), ("dan", "editor")])
    study = store.create(pair, Settings(parameters={"until": "decided"}), "x", ["Eve", "Ned", "Zoe"])
    eve, ned, zoe = (voter.id for voter in study.voters())
    for voter in (eve, ned, zoe):
        while isinstance(question := study.ask(voter), Question) and voter != zoe:
            study.tell(voter, question.number, min(question.candidates))
    study.strike(ned)
    view = Dashboard(study)
    assert view.votes == "2 votes from 1 judge; 2 more votes do not count."
    status = view.status
    assert (status.voters, status.voters_struck, status.voters_counted) == (3, 1, 1)
    assert (status.voters_there, status.voters_out) == (2, 0), "zoe is still waited for"
    study.leave(zoe, "dropped")
    assert (study.status().voters_there, study.status().voters_out) == (1, 1)
    study.come_back(zoe)
    study.conflict(eve, ["ann"])
    view = Dashboard(study)
    assert (view.status.counted, [voter.counted for voter in view.voters]) == (1, [1, 0, 0])
    rows = AnswerPage(study, 10**6, eve).rows
    assert {row.position.name: row.uncounted for row in rows} == {
        "chair": "about a candidate whom this judge does not judge",
        "editor": "",
    }
    study.clear_conflict(eve, ["ann"])
    assert study.status().counted == 2
    study.drop("dan")
    view = Dashboard(study)
    assert view.votes == "1 vote from 1 judge; 3 more votes do not count."
    assert [(voter.answers, voter.counted) for voter in view.voters] == [(2, 1), (2, 0), (0, 0)]
    page = rendered(study)
    assert "1 of them counts" in page
    assert "and 1 whose votes are struck out" in page
    assert "4 came in, and 1 of them count" in page
    study.close()
    page = rendered(study)
    for word in ("Result to share", 'data-do="drop" disabled', '/strike" disabled', '/leave" disabled'):
        assert word in page
    for word in ("Votes still needed", "Being answered now", "decides the rest"):
        assert word not in page


def rendered(study: Study) -> str:
    return templates.get_template("live.html").render(view=Dashboard(study), study=study, own="")


def test_who_is_struck_is_marked_no_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    study = store.create(TEAM, Settings(), "x", ["Eve", "Ned"])
    eve, ned = (voter.id for voter in study.voters())
    odd = Hints(side=("first", 15, 15))
    monkeypatch.setattr(Study, "hints", lambda _: {eve: odd, ned: odd})
    assert "2 judges are marked" in rendered(study)
    study.strike(eve)
    assert "One judge is marked. There may be good reasons: look at their votes" in rendered(study)
    assert "(struck out)" in rendered(study)
    study.strike(ned)
    assert 'id="marked"' not in rendered(study)
    study.reinstate(ned)
    study.close()
    assert 'id="marked"' not in rendered(study)


def test_what_voters_see_of_the_result_is_said_and_ends_when_the_study_is_reopened(store: Store) -> None:
    study = store.create(TEAM, Settings(), "x", ["Eve"])
    study.publish()
    assert "as soon as the study is closed" in rendered(study)
    assert "The result is not certain yet: more votes could change it. Close the study?" in rendered(study)
    study.close()
    assert "Voters see the result on their page." in rendered(study)
    study.reopen()
    assert not study.status().published
    assert verify("".join(exported_log(study)).splitlines()).damage is None


@pytest.mark.parametrize("algorithm", ["panel", "condorcet", "car-cond"])
def test_nobody_is_named_where_no_vote_counts(store: Store, algorithm: str) -> None:
    """A run begins with some line-up; the page, the API, the log and its check are silent about it."""
    study = store.create(TEAM, Settings(algorithm), "x", ["Eve", "Ned"])
    eve = study.voters()[0].id
    for votes in ("no votes", "no votes that count"):
        if votes != "no votes":
            question = study.ask(eve)
            assert isinstance(question, Question)
            study.tell(eve, question.number, question.candidates[0])
            assert study.status().result.matching is not None or algorithm != "panel"
            study.strike(eve)
        study.close()
        view = Dashboard(study)
        assert view.kind == f"No answer yet: there are {votes}."
        assert all(not race.leaders for race in view.races)
        assert Outcome.of_status(study.status(), None, secret=False).matching is None
        report = verify("".join(exported_log(study)).splitlines())
        assert not report.differs
        for verdict in (report.recorded, report.found):
            assert verdict is None or (verdict.status, verdict.lineup) == ("budget_spent", None)
        study.reopen()


def test_where_nothing_is_decided_the_page_says_what_a_check_of_the_log_shows(store: Store) -> None:
    study = store.create(TEAM, Settings(seed=0), "x", ["Eve", "Ned", "Zoe"])
    eve = study.voters()[0].id
    question = study.ask(eve)
    assert isinstance(question, Question)
    study.tell(eve, question.number, question.candidates[0])
    study.close()
    estimates = study.estimates(0.1)
    assert estimates is not None
    assert estimates.standings is not None
    recorded = study.status().result.matching
    assert recorded is not None
    other = next(lineup for lineup in dm.matchings.sample(TEAM, 50) if lineup != recorded)
    for leader, says in ((recorded, False), (other, True)):
        stands = replace(estimates, standings=replace(estimates.standings, leader=leader))
        check = Dashboard(study, estimates=stands).check
        assert check.startswith("It says that nothing is decided: who leads here is an estimate")
        named = "; ".join(f"{where}: {who}" for where, who in recorded.items())
        assert (f"The line-up of the log is no winner either ({named})" in check) is says


def test_nobody_who_is_out_of_a_panel_is_named_as_likely(store: Store) -> None:
    """Where no line-up wins, the least beaten one does: who is decided, or out, stays so, by any estimate."""
    problem = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor"])
    ends, decided_early = set(), 0
    for seed in (4, 6, 14):
        random = Random(seed)
        study = store.create(problem, Settings("panel", seed=seed), "Jury", voters=["eve", "ned", "zoe"])
        judges = study.voters()
        order = {(v.id, s): random.sample(problem.candidates, 4) for v in judges for s in problem.positions}
        said: dict[str, str] = {}
        asked = True
        while asked:
            asked = False
            for judge in judges:
                question = study.ask(judge.id)
                if not isinstance(question, Question):
                    continue
                asked = True
                ranking = order[judge.id, question.position]
                study.tell(judge.id, question.number, min(question.candidates, key=ranking.index))
                view = Dashboard(study, estimates=study.estimates(0.1))
                assert view.graph is not None
                out = {
                    (line.candidate, line.position) for line in view.graph.lines if line.kind == "rejected"
                }
                for race in view.races:
                    named = {*race.leaders, *race.others, *(each.who for each in race.contenders)}
                    assert not any((who, race.position) in out for who in named)
                    if race.decided:
                        (leader,) = race.leaders
                        assert said.setdefault(race.position.name, leader.name) == leader.name
                        decided_early += not view.status.certain
        ends.add(study.status().result.status)
    assert "no_winner" in ends
    assert decided_early


def test_how_many_line_ups_are_left_is_said_once_they_are_few(store: Store) -> None:
    larger = dm.Problem.complete(["ann", "bob", "cyd", "dan"], ["chair", "editor", "clerk"])
    for problem, shown in ((TEAM, 6), (larger, None)):
        study = store.create(problem, Settings(), "x", ["Eve", "Ned"])
        eve = study.voters()[0].id
        assert Dashboard(study).possible is None
        question = study.ask(eve)
        assert isinstance(question, Question)
        study.tell(eve, question.number, question.candidates[0])
        view = Dashboard(study)
        assert view.possible == shown
        assert view.status.progress.possible == (shown or 24)


def test_voters_and_their_links_are_shown_by_page(store: Store) -> None:
    """Thousands of rows took seconds, after every vote."""
    study = store.create(TEAM, Settings("condorcet"), "Team")
    organiser = study.new_link("organiser")[:16]
    joined = [study.join()[0] for _ in range(VOTERS_SHOWN + 3)]
    first, second, beyond = (Dashboard(study, page) for page in (1, 2, 3))
    assert [voter.id for voter in first.voters] == joined[:VOTERS_SHOWN]
    assert [voter.id for voter in second.voters] == joined[VOTERS_SHOWN:]
    assert (first.pages, second.page) == (2, 2)
    assert (beyond.page, beyond.voters) == (2, second.voters)  # where there is no such page, the last one
    assert len(second.links) == 4
    assert organiser in {link.id for link in second.links}


def test_an_export_in_pieces_is_the_whole_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "AT_ONCE", 3)
    study = store.create(TEAM, Settings("condorcet"), "Team")
    for _ in range(7):
        voter = study.add_voter()
        question = study.ask(voter)
        assert isinstance(question, Question)
        study.tell(voter, question.number, question.candidates[0])
    pieces = list(exported_log(study))
    assert [piece.count("\n") for piece in pieces[:-1]] == [3] * (len(pieces) - 1)
    report = verify("".join(pieces).splitlines())
    assert (report.damage, sum(piece.count("\n") for piece in pieces)) == (None, study.end())
    assert export_table(study).count("\n") == 8

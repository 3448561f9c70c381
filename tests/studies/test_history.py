"""The history of a study: the same however often and in whatever pieces it is read."""

from __future__ import annotations

from collections.abc import Callable

from duelmatch.studies import Question, Study
from duelmatch.studies.history import MOST_POINTS, History


def play(study: Study, votes: int) -> None:
    voter = study.add_voter()
    for _ in range(votes):
        question = study.ask(voter)
        assert isinstance(question, Question)
        study.tell(voter, question.number, min(question.left, question.right))


def test_it_is_the_same_in_pieces_and_at_once(new_study: Callable[..., Study]) -> None:
    study = new_study(delta=0.001)
    followed = History(study)
    assert [point.votes for point in followed.points()] == [0]
    for votes in (1, 5, 140, 20):
        play(study, votes)
        followed.points()
    points = followed.points()
    assert points == History(study).points()
    assert points[-1].votes == 166
    assert [point.votes for point in points] == sorted({point.votes for point in points})
    assert len(points) <= MOST_POINTS + 1
    assert sum(count for _, count in followed.hours()) == 166
    assert points[-1].decided == 1 - len(study.status().progress.undecided) / len(study.problem.edges)


def test_a_study_without_votes_has_no_hours(study: Study) -> None:
    assert History(study).hours() == []

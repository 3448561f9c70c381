"""No run has changed: what the algorithms ask and answer is what it was when it was recorded."""

import json

from explorers.recording import FILE, cases

RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


def test_every_seventh_run_asks_and_answers_as_recorded():
    """Those of all algorithms and problems are among them; ``recording.py --check`` plays all."""
    played = [case for number, case in enumerate(cases()) if number % 7 == 0]
    for part in (0, 1, 2, 3):  # problem, algorithm with parameters, seed, way of playing
        assert len({label.split(", ")[part] for label, _, _ in played}) == len(
            {label.split(", ")[part] for label in RECORDED}
        )
    assert [label for label, play, arguments in played if play(*arguments) != RECORDED[label]] == []


def test_every_recorded_run_can_still_be_played():
    assert {label for label, _, _ in cases()} == set(RECORDED)

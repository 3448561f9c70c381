"""What does an afternoon with judges come to: 20 of them, 8 projects, 4 prizes, 30 questions each?

Plays whole events over HTTP, against a real server. Judges have consistent rankings (a project's quality at a
prize is standard normal, the same for all, and each judge adds Gumbel noise), come in random order, and skip
5% of their questions. One of them always takes the first of the two shown; one leaves halfway. The organiser
does what the dashboard suggests: strikes who always takes the same side, presses "Has left" beside who has,
and at the end, if nothing is certain, beside all others, too. Prints a Markdown table.

    python benchmarks/event.py                  20 events, some minutes
    python benchmarks/event.py --events 3       a quick look
"""

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx2
import numpy as np

import duelmatch as dm
from duelmatch.studies import Store
from duelmatch.web import Config

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from web.running import served

CERTAIN = ("decided", "unbeaten", "tied", "no_winner")
SKIPS = 0.05


@dataclass
class Plan:
    """How large an event is; the last judge takes the first of the two, the one before leaves halfway."""

    projects: int = 8
    prizes: int = 4
    judges: int = 20
    questions_each: int = 30


@dataclass
class Outcome:
    """What an event came to, and what the full rankings of the honest judges say of that."""

    first: str
    """The status when nobody had a question left."""
    last: str
    """And when the organiser had noted that nobody says more."""
    label: str
    """What the result page says that it is."""
    votes: int
    """Those that count."""
    struck: bool
    """Whether the one who always took the same side was noticed."""
    behind: int
    """By how many votes the line-up loses to the one that beats it most, over all prizes; 0 if none does."""
    estimated: int | None
    """The same of the line-up that the estimate had leading before, if nothing was certain."""
    least: int
    """The same of the best line-up that there is."""


class Caller:
    """Somebody with a link."""

    def __init__(self, http, study, token):
        self._http, self._base = http, f"/api/v1/studies/{study}"
        self._headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method, path, body=None):
        answer = self._http.request(method, self._base + path, headers=self._headers, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def label(self):
        page = self._http.get(self._base.removeprefix("/api/v1") + "/result", headers=self._headers)
        return re.search('id="kind"><strong>(.*?)</strong>', page.raise_for_status().text)[1]


def rankings(plan, seed):
    """Return what every judge thinks: prize to projects, best first."""
    rng = np.random.default_rng([seed, 29])
    shape = plan.prizes, plan.projects
    utility = rng.standard_normal(shape) + rng.gumbel(size=(plan.judges, *shape))
    return [
        {f"Prize {j + 1}": [f"Project {i + 1}" for i in np.argsort(-rows[j])] for j in range(plan.prizes)}
        for rows in utility
    ]


def vote(judge, ranking, always_first, chance):
    """Answer a question, or skip it; return what there was: an answer, a skip, or nothing to ask."""
    asked = judge("POST", "/question")
    if asked["number"] is None:
        return "nothing"
    path = f"/questions/{asked['number']}"
    if chance.random() < SKIPS:
        judge("POST", f"{path}/skip", {"reason": "I do not know enough about them"})
        return "skip"
    best = min(asked["candidates"], key=ranking[asked["position"]].index)
    judge("POST", f"{path}/answer", {"answer": asked["candidates"][0] if always_first else best})
    return "answer"


def judged(judges, opinions, plan, chance, here):
    """Let those who are here vote in random order, until none of them is asked anything more."""
    given, waiting = Counter(), set()
    while len(waiting) < len(here):
        number = chance.choice([each for each in here if each not in waiting])
        what = vote(judges[number], opinions[number], number == plan.judges - 1, chance)
        given[number] += what == "answer"
        if what == "nothing":
            waiting.add(number)
        else:
            waiting.clear()  # whoever had to wait for others may be asked now
        if number == plan.judges - 2 and given[number] >= plan.questions_each // 2:
            here = [each for each in here if each != number]
            waiting.discard(number)


def behind(opinions, lineup):
    """Return by how many votes, over all prizes, a line-up loses to the one that beats it most."""
    problem = dm.Problem.complete(opinions[0]["Prize 1"], list(opinions[0]))
    lost = {
        (rival, prize): float(
            sum(np.sign(each[prize].index(lineup[prize]) - each[prize].index(rival)) for each in opinions)
        )
        for rival, prize in problem.edges
    }
    worst = dm.matchings.best(problem, lost)
    return max(0, round(sum(lost[rival, prize] for prize, rival in worst.items())))


def least_beaten(opinions):
    """Return the best line-up by the full rankings."""
    problem = dm.Problem.complete(opinions[0]["Prize 1"], list(opinions[0]))
    said = {(f"{n}", prize): order for n, each in enumerate(opinions) for prize, order in each.items()}
    return dm.Panel(problem, said).preferences().least_beaten()[0]


def play(http, plan, seed):
    """Hold an event."""
    opinions, chance = rankings(plan, seed), random.Random(seed)
    names = [f"Judge {number + 1}" for number in range(plan.judges)]
    made = http.post(
        "/api/v1/studies",
        json={
            "name": f"Science day {seed}",
            "problem": {
                "candidates": [f"Project {i + 1}" for i in range(plan.projects)],
                "positions": [f"Prize {j + 1}" for j in range(plan.prizes)],
            },
            "settings": {"algorithm": "panel", "questions_each": plan.questions_each, "seed": seed},
            "voters": [{"name": name} for name in names],
        },
    ).raise_for_status().json()  # fmt: skip
    organiser = Caller(http, made["study"], made["organiser_token"])
    judges = [Caller(http, made["study"], invited["token"]) for invited in made["voters"]]
    judged(judges, opinions, plan, chance, list(range(plan.judges)))
    odd = [
        each["id"]
        for each in organiser("GET", "/voters")
        if any(hint.startswith("Takes the") for hint in each["hints"])
    ]
    people = [invited["voter"] for invited in made["voters"]]
    for voter in odd:
        organiser("POST", f"/voters/{voter}/strike")
    organiser("POST", f"/voters/{people[-2]}/leave", {"open_answers": "dropped"})
    here = [number for number, voter in enumerate(people) if voter not in (*odd, people[-2])]
    judged(judges, opinions, plan, chance, here)
    first = organiser("GET", "/result?wait=3")
    for voter in people if first["status"] not in CERTAIN else ():
        if voter not in odd:
            organiser("POST", f"/voters/{voter}/leave", {"open_answers": "dropped"})
    organiser("POST", "/phase/close")
    last, honest = organiser("GET", "/result"), opinions[:-1]
    uncertain = first["status"] not in CERTAIN and first["standings"] is not None
    return Outcome(
        first["status"],
        last["status"],
        organiser.label(),
        organiser("GET", "/progress")["answers"],
        people[-1] in odd,
        behind(honest, last["matching"]),
        behind(honest, first["standings"]["leader"]) if uncertain else None,
        behind(honest, least_beaten(honest)),
    )


def table(outcomes):
    """Print how the events ended."""
    kinds = {
        "certain with the questions there were": [one for one in outcomes if one.first in CERTAIN],
        "certain once “Has left” was pressed beside all": [
            one for one in outcomes if one.first not in CERTAIN and one.last in CERTAIN
        ],
        "not certain, labelled so": [one for one in outcomes if one.last not in CERTAIN],
    }
    print(
        "| the result was | events | votes, in the middle (least to most) | the choice of the full rankings |"
    )
    print("|---|---|---|---|")
    for kind, found in kinds.items():
        if found:
            votes = [one.votes for one in found]
            same = sum(one.behind <= one.least for one in found)
            spread = f"{median(votes):.0f} ({min(votes)} to {max(votes)})"
            print(f"| {kind} | {len(found)} | {spread} | {same} of {len(found)} |")
    lost = [one.behind for one in outcomes if one.behind > one.least]
    guessed = [one.estimated <= one.least for one in outcomes if one.estimated is not None]
    print(
        f"\nThe others lose to another line-up by {sorted(lost)} votes, of at most 19 at each of the prizes."
    )
    print(
        f"Before that, the leader by the estimate was that choice in {sum(guessed)} of {len(guessed)} events."
    )
    print(f"Who always took the first was noticed in {sum(one.struck for one in outcomes)} events.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first event")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(f"sqlite:///{folder}/duels.db") as store,
        served(store, Config(rates=None)) as address,
        httpx2.Client(base_url=address, trust_env=False, timeout=60) as http,
    ):
        outcomes = []
        for seed in range(chosen.first, chosen.first + chosen.events):
            outcomes.append(play(http, Plan(), seed))
            print(f"event {seed}: {outcomes[-1]}", file=sys.stderr, flush=True)
    table(outcomes)


if __name__ == "__main__":
    main()

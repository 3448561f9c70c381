"""The verdict of a panel: what is certain of a line-up, whatever the open answers will be.

With W, L and U the weights of the judges who prefer a, who prefer b, and whose opinion is open, out of J,
a is ahead of b by (W - L - U) / 2J at least and (W - L + U) / 2J at most. A line-up is ahead of another by
a sum over positions, so the one it is least ahead of is found by an assignment problem. Everything is in
whole numbers, because draws are common.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain, permutations
from math import inf, lcm
from typing import Any

from duelmatch.verify.log import LISTED, Lineup, LineupVerdict, NotRecomputedError, Pair, StudyLog, places

Costs = list[dict[str, Any]]
"""A whole number for every candidate of every position."""

CERTAIN = ("decided", "unbeaten", "no_winner", "budget_spent")
"""What may be said of a line-up head to head, the best first."""

COMPARED = 500
"""Up to so many line-ups with seats or rules every two are compared."""


class PanelVerdict:
    """The count of every pair, and what follows from it head to head.

    ``ahead`` and ``open`` are W - L and U of (position, one, other), times ``factor`` = ``scale`` / J.
    """

    borda = False

    def __init__(self, log: StudyLog) -> None:
        self.log, self.lineups = log, log.lineups()
        self.consistent = bool(log.setting("consistent", True))
        struck = log.corrections[-1].struck
        self.weight = {voter: judge.weight for voter, judge in log.judges.items() if voter not in struck}
        self.opinions = self._opinions()
        self.pairs = [pair for pair in log.pairs() if log.dropped.isdisjoint(pair[1:])]
        counting = {pair: [voter for voter in self.weight if self.counts(voter, pair)] for pair in self.pairs}
        totals = {pair: sum(self.weight[voter] for voter in counting[pair]) for pair in self.pairs}
        self.scale = lcm(*(total for total in totals.values() if total))
        self.factor: dict[Pair, int] = {}
        self.ahead: dict[Pair, int] = {}
        self.open: dict[Pair, int] = {}
        for (j, one, other), total in totals.items():
            votes = [(self.weight[v], self.opinions[v].get((j, one, other))) for v in counting[j, one, other]]
            factor = self.scale // total if total else 0
            ahead = factor * sum(weight * value for weight, value in votes if value is not None)
            for pair, sign in (((j, one, other), 1), ((j, other, one), -1)):
                self.factor[pair], self.ahead[pair] = factor, sign * ahead
                self.open[pair] = factor * sum(weight for weight, value in votes if value is None)

    def _opinions(self) -> dict[str, dict[Pair, int]]:
        """Return what every judge thinks of (position, one, other): 1, 0 or -1; open ones are not in it."""
        said: dict[str, dict[Pair, int]] = {voter: {} for voter in self.weight}
        self.unsaid: set[tuple[str, Pair]] = set()
        """Of whom an answer was struck, on which pair."""
        for question in self.log.given.values():
            voter, j = question.voter, question.position
            place = None if question.answer is None else places(question.answer)
            for one, other in permutations(question.candidates, 2):
                if place is None:
                    self.unsaid.add((voter, (j, one, other)))
                elif voter in said and self.log.has_no_conflict(voter, (j, one, other)):
                    value = (place[one] < place[other]) - (place[one] > place[other])
                    said[voter][j, one, other] = value  # the last answer counts
        self.unsaid = {(voter, pair) for voter, pair in self.unsaid if pair not in said.get(voter, ())}
        if not self.consistent:
            return said
        return {voter: {**closure(self.log, known), **known} for voter, known in said.items()}

    def counts(self, voter: str, pair: Pair) -> bool:
        """Whether a voter's opinion on a pair counts, known or open."""
        unheard = self.log.judges[voter].dropped and pair not in self.opinions[voter]
        return not unheard and (voter, pair) not in self.unsaid and self.log.has_no_conflict(voter, pair)

    @property
    def whole(self) -> Fraction | int:
        """What a difference is divided by to be per position, and in shares of the votes or of a score."""
        return 2 * self.scale * len(self.log.positions)

    def bound(self, lineup: Lineup, sign: int) -> Costs:
        """Return by how much a line-up is ahead of every candidate, at most (1) or at least (-1)."""
        return [
            {b: 0 if a == b else self.ahead[j, a, b] + sign * self.open[j, a, b] for b in self.log.staying(j)}
            for j, a in zip(self.log.positions, lineup, strict=True)
        ]

    def closest(self, lineup: Lineup, sign: int) -> int | None:
        """Return the least by which a line-up is ahead of any other; None if that is above 0.

        The line-up itself is left out by a trick that needs whole numbers: of all differences times l + 1,
        less the number of positions that differ, those from 1 on stay positive, those up to 0 turn negative.
        """
        bound = self.bound(lineup, sign)
        costs = [
            {b: 0 if a == b else (len(lineup) + 1) * value - 1 for b, value in at.items()}
            for a, at in zip(lineup, bound, strict=True)
        ]
        rival, total = cheapest(costs)
        return None if total == 0 else sum(at[b] for b, at in zip(rival, bound, strict=True))

    def verdict(self, lineup: Lineup) -> LineupVerdict:
        """Return what is certain of a line-up."""
        if any(one not in self.log.staying(j) for j, one in self.log.edges(lineup)):
            return LineupVerdict("impossible", lineup)
        worst = self.closest(lineup, -1)
        if worst is None:
            return LineupVerdict("decided", lineup, 0.0)
        return LineupVerdict(self._status(lineup, worst), lineup, float(-worst / self.whole))

    def _status(self, lineup: Lineup, worst: int) -> str:
        """Return what is certain of a line-up that may be level with another, or behind it."""
        if not any(self.factor.values()):  # nobody's opinion counts
            return "budget_spent"
        if self.borda:
            return "tied" if worst == 0 and self.closest(lineup, 1) is not None else "budget_spent"
        if worst == 0:
            return "unbeaten"
        return "no_winner" if self._is_least_beaten(lineup, -worst) else "budget_spent"

    def _is_least_beaten(self, lineup: Lineup, defeat: int) -> bool:
        """Whether all line-ups are beaten for certain, and the others by what this one can lose by."""
        if self._must_lose(lineup) <= 0:
            return False
        if self.lineups is None:
            raise NotRecomputedError(
                f"Whether all line-ups are beaten takes a list, and there are over {LISTED:,}."
            )
        return all(self._must_lose(other) >= defeat for other in self.lineups if other != lineup)

    def _must_lose(self, lineup: Lineup) -> int:
        return -cheapest(self.bound(lineup, 1))[1]

    def best(self) -> LineupVerdict:
        """Return the verdict on the line-up that can be beaten least."""
        if self.lineups is None:
            raise NotRecomputedError(f"The log records no line-up, and there are over {LISTED:,} to look at.")
        defeats = {lineup: -cheapest(self.bound(lineup, -1))[1] for lineup in self.lineups}
        least = min(defeats.values())
        verdicts = [self.verdict(lineup) for lineup, defeat in defeats.items() if defeat == least]
        return min(verdicts, key=lambda verdict: CERTAIN.index(verdict.status))


class BordaVerdict(PanelVerdict):
    """The same by scores: ``uses`` of ``among`` line-ups have a candidate at a position."""

    borda = True

    def __init__(self, log: StudyLog) -> None:
        super().__init__(log)
        everybody = [one for one in log.candidates if one not in log.dropped]
        edges = [(j, one) for j in log.positions for one in log.staying(j)]
        if len(edges) == len(everybody) * len(log.positions):
            self.uses, self.among = Counter(edges), len(everybody)
        elif self.lineups is None:
            raise NotRecomputedError(f"Scores take a list of the line-ups, and there are over {LISTED:,}.")
        else:
            self.uses, self.among = Counter(chain(*map(log.edges, self.lineups))), len(self.lineups)

    @property
    def whole(self) -> Fraction | int:
        """What a difference is divided by to be per position, in shares of a score."""
        return super().whole * self.among

    def score(self, j: str, a: str, sign: int) -> int:
        """Return the most (1) or the least (-1) that a candidate's score can be."""
        others = (y for y in self.log.staying(j) if y != a)
        return sum(self.uses[j, y] * (self.ahead[j, a, y] + sign * self.open[j, a, y]) for y in others)

    def bound(self, lineup: Lineup, sign: int) -> Costs:
        """Return by how much a line-up's score is above that of every candidate, at most or at least."""
        costs: Costs = []
        for j, a in zip(self.log.positions, lineup, strict=True):
            own = self.score(j, a, sign)
            costs.append({b: own - self.score(j, b, -sign) for b in self.log.staying(j) if b != a} | {a: 0})
            if self.consistent:
                for b in costs[-1]:
                    costs[-1][b] -= sign * self._out_of_reach(j, a, b, sign)
        return costs

    def _out_of_reach(self, j: str, a: str, b: str, sign: int) -> int:
        """Return what no judge with a ranking can do: put y between a and b the wrong way round."""
        total = 0
        for voter, weight in self.weight.items():
            said = self.opinions[voter]
            if a != b and said.get((j, a, b)) in (0, -sign):
                for y in self.log.staying(j):
                    ends = (j, a, y), (j, b, y)
                    if y not in (a, b) and all(end not in said and self.counts(voter, end) for end in ends):
                        total += 2 * weight * self.uses[j, y] * min(self.factor[end] for end in ends)
        return total

    def best(self) -> LineupVerdict:
        """Return the verdict on the line-up that is best in the middle of what is possible."""
        middle = [
            {a: -self.score(j, a, 1) - self.score(j, a, -1) for a in self.log.staying(j)}
            for j in self.log.positions
        ]
        return self.verdict(cheapest(middle)[0])


class SeatedVerdict(PanelVerdict):
    """The same with several seats, capacities, weights or rules: by looking at all line-ups.

    At a position of weight v and k seats, every pair of one's candidates and another's counts v / k^2;
    somebody against itself counts nothing. For Borda a pair counts what it moves the two scores by. So one
    line-up is ahead of another by a sum over pairs, and what is open moves each term either way.
    """

    def __init__(self, log: StudyLog, borda: bool) -> None:
        super().__init__(log)
        if self.lineups is None:
            raise NotRecomputedError(f"With seats or rules it takes a list, and there are over {LISTED:,}.")
        self.borda = borda
        weight = {j: Fraction(str(log.weight.get(j, 1))) for j in log.positions}
        worth = {j: weight[j] / log.seats.get(j, 1) ** 2 for j in log.positions}
        common = lcm(*(one.denominator for one in worth.values()))
        self.worth = {j: int(one * common) for j, one in worth.items()}
        self._whole = 2 * self.scale * common * (len(self.lineups) if borda else 1) * sum(weight.values())
        self.chosen = {lineup: set(log.edges(lineup)) for lineup in self.lineups}
        self.uses = Counter(chain(*self.chosen.values()))

    @property
    def whole(self) -> Fraction | int:
        """What a difference is divided by to be per position of average weight."""
        return self._whole

    def interval(self, one: Lineup, other: Lineup) -> tuple[int, int]:
        """Return the least and the most by which a line-up is ahead of another."""
        mine, theirs = self.chosen[one], self.chosen[other]
        known = slack = 0
        for j, a, b in self.pairs:
            x, y = (j, a), (j, b)
            if self.borda:
                moves = ((x in mine) - (x in theirs)) * self.uses[y]
                moves -= ((y in mine) - (y in theirs)) * self.uses[x]
            else:
                moves = (x in mine and y in theirs) - (y in mine and x in theirs)
            known += self.worth[j] * moves * self.ahead[j, a, b]
            slack += self.worth[j] * abs(moves) * self.open[j, a, b]
        return known - slack, known + slack

    def closest(self, lineup: Lineup, sign: int) -> int | None:
        """Return the least by which a line-up is ahead of any other; None if that is above 0."""
        others = (other for other in self.chosen if other != lineup)
        least = min((self.interval(lineup, other)[sign > 0] for other in others), default=1)
        return None if least > 0 else least

    def verdict(self, lineup: Lineup) -> LineupVerdict:
        """Return what is certain of a line-up."""
        return super().verdict(lineup) if lineup in self.chosen else LineupVerdict("impossible", lineup)

    def _is_least_beaten(self, lineup: Lineup, defeat: int) -> bool:
        if len(self.chosen) > COMPARED and self._must_lose(lineup) > 0:
            raise NotRecomputedError(f"Whether all of {len(self.chosen):,} line-ups are beaten takes long.")
        return super()._is_least_beaten(lineup, defeat)

    def _must_lose(self, lineup: Lineup) -> int:
        return -min(self.interval(lineup, other)[1] for other in self.chosen)

    def best(self) -> LineupVerdict:
        """Return the best verdict that there is on any line-up."""
        if len(self.chosen) > COMPARED:
            raise NotRecomputedError(f"The log records no line-up, and there are over {COMPARED:,}.")
        order = (*CERTAIN[:-1], "tied", "budget_spent")
        verdicts = [self.verdict(lineup) for lineup in self.chosen]
        return min(verdicts, key=lambda one: (order.index(one.status), one.shortfall))


def closure(log: StudyLog, said: dict[Pair, int]) -> dict[Pair, int]:
    """Return what follows from a judge's answers if the judge ranks.

    Answers say "at least as good as", and chains of these lead from one candidate to another. Where a chain
    leads one way only, the first is better; where chains lead both ways, there is no difference, unless a
    "better" is among them: then the judge has no ranking there, and nothing follows.
    """
    follows: dict[Pair, int] = {}
    for j in log.positions:
        at = log.staying(j)
        reach = {x: {y for y in at if said.get((j, x, y), -1) >= 0} for x in at}
        for middle in at:
            for x in at:
                if middle in reach[x]:
                    reach[x] |= reach[middle]
        level = {x: {y for y in reach[x] if x in reach[y]} for x in at}
        tangled = {x for x in at if any(said.get((j, y, z), 0) > 0 for y in level[x] for z in level[x])}
        for x in at:
            for y in reach[x] - {x}:
                if y not in level[x]:
                    follows[j, x, y], follows[j, y, x] = 1, -1
                elif x not in tangled:
                    follows[j, x, y] = 0
    return follows


def cheapest(costs: Costs) -> tuple[Lineup, int]:
    """Return the line-up with the least sum of costs, and that sum: the Hungarian method in whole numbers.

    Positions come one by one, and each is let in along the shortest path of changes; ``price`` and ``toll``
    are the dual variables that keep all reduced costs at 0 or above.
    """
    names = list(dict.fromkeys(name for at in costs for name in at))
    price, toll, holder = [0] * len(costs), [0] * len(names), [-1] * len(names)
    for new in range(len(costs)):
        distance: list[Any] = [inf] * len(names)
        via, position, column = [-1] * len(names), new, -1
        waiting, path = set(range(len(names))), list[int]()
        while position >= 0:
            for k in waiting:
                if names[k] in costs[position]:
                    length = costs[position][names[k]] - price[position] - toll[k]
                    if length < distance[k]:
                        distance[k], via[k] = length, column
            column = min(waiting, key=lambda k: distance[k])
            step = distance[column]
            price[new] += step
            for k in path:
                price[holder[k]] += step
                toll[k] -= step
            for k in waiting:
                distance[k] -= step
            waiting.remove(column)
            path.append(column)
            position = holder[column]
        while column >= 0:
            before = via[column]
            holder[column] = new if before < 0 else holder[before]
            column = before
    lineup = [""] * len(costs)
    for k, position in enumerate(holder):
        if position >= 0:
            lineup[position] = names[k]
    return tuple(lineup), sum(at[name] for name, at in zip(lineup, costs, strict=True))

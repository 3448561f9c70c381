"""What candidates and positions are called on pages, by their titles, where they have one, and voters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from duelmatch.problem import Details, Problem


@dataclass(frozen=True, slots=True)
class Named:
    """The name by which a candidate or a position is known to the study, and what people read."""

    name: str
    title: str

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True, slots=True)
class Names:
    """All names of a study."""

    candidates: Mapping[str, Named]
    positions: Mapping[str, Named]

    @classmethod
    def of(cls, problem: Problem) -> Names:
        """Look up what everything in a problem is called."""
        return cls(
            _called(problem.candidates, problem.candidate_details),
            _called(problem.positions, problem.position_details),
        )

    def without(self, dropped: Collection[str]) -> list[Named]:
        """Return the candidates who have not withdrawn."""
        return [who for who in self.candidates.values() if who.name not in dropped]


def voter_name(voter: str, name: str | None) -> str:
    """Return what a voter is called: the name, or the beginning of the id."""
    return name or f"Voter {voter[:6]}"


def _called(names: Iterable[str], details: Mapping[str, Details]) -> dict[str, Named]:
    """Return the titles; where several have the same, the name tells them apart."""
    titles = {name: (details[name].title if name in details else None) or name for name in names}
    times = Counter(titles.values())
    return {
        name: Named(name, title if times[title] == 1 else f"{title} ({name})")
        for name, title in titles.items()
    }

"""What a study had come to when it was closed, as the log has it, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from duelmatch.explorers.catalogue import Assumption
from duelmatch.explorers.result import Result
from duelmatch.problem import Matching


def verdict_of(result: Result, assuming: Iterable[Assumption]) -> dict[str, Any]:
    """Return the result of a study, and what it takes for granted, as they are written into the log."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    matching = None if result.matching is None else result.matching.as_json()
    return values | {"matching": matching, "assuming": [str(each) for each in assuming]}


def result_of(verdict: Mapping[str, Any]) -> Result:
    """Return the result that was written into the log."""
    matching = None if verdict["matching"] is None else Matching(verdict["matching"])
    values = dict(verdict) | {"matching": matching, "assuming": assumptions_of(verdict)}
    return Result(**values)


def assumptions_of(verdict: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """Return what was taken for granted."""
    return tuple(each for each in Assumption if each in verdict["assuming"])

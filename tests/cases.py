"""One test per property: its cases run in a loop, and a failure names the case."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

LONGEST_NAME = 400


def each(
    names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of all cases; written like ``pytest.mark.parametrize``, and stacks like it.

    The first case that fails ends the test, and pytest prints which it was below the error. A case that
    returns early makes way for the next. Fixtures are set up once, not for every case. Cases that take long
    to find are given as a function, which is called by the test, and not whenever tests are collected.
    """
    arguments = (names,) if isinstance(names, str) else names

    def listed() -> list[tuple[Any, ...]]:
        found = cases() if callable(cases) else cases
        table = [(case,) if isinstance(names, str) else tuple(case) for case in found]
        if not table:
            raise ValueError(f"A test of no {' and '.join(arguments)} cannot fail.")
        return table

    known = None if callable(cases) else listed()

    def loop(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every_case(*own: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True
            table = known or listed()
            for number, values in enumerate(table, start=1):
                case = dict(zip(arguments, values, strict=True))
                try:
                    test(*own, **fixtures, **case)
                except BaseException as error:  # pytest's own "DID NOT RAISE" is no Exception
                    name = ", ".join(f"{argument}={value!r}" for argument, value in case.items())
                    error.add_note(f"failing case: {name:.{LONGEST_NAME}} ({number} of {len(table)})")
                    raise

        signature = inspect.signature(test)
        left = [given for name, given in signature.parameters.items() if name not in arguments]
        every_case.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every_case

    return loop

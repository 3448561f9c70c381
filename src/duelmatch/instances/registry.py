"""The generators of instances by name, of this package and of others.

Others add theirs by an entry point in the group ``duelmatch.instances`` that leads to a function, or by
calling :func:`register_generator`. A generator returns :class:`duelmatch.Preferences`; its parameters are
numbers, and if one of them is called ``seed``, an experiment draws as many instances as it is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from duelmatch.errors import ProblemError, listed
from duelmatch.instances import generators
from duelmatch.preferences import Preferences

Generator = Callable[..., Preferences]

GROUP = "duelmatch.instances"
"""The entry points of other packages' generators."""

BUILT_IN: dict[str, Generator] = {
    make.__name__: make
    for make in (
        generators.bradley_terry,
        generators.cyclic,
        generators.equal_gaps,
        generators.paper_example,
        generators.planted,
        generators.rings,
        generators.uniform,
    )
}

_known = dict(BUILT_IN)
_registered: dict[str, Generator] = {}


def register_generator(name: str, make: Generator) -> None:
    """Make a generator known by its name, to experiment files; registering it again replaces it.

    :raises ProblemError: if the name is one of this package's.
    """
    _discover()
    _add(name, make)
    _registered[name] = make


def registered_generators() -> dict[str, Generator]:
    """Return those that were registered by a call, by name: other processes have to be told of them."""
    return dict(_registered)


def generator(name: object) -> Generator:
    """Return a generator; dashes and underscores are the same.

    :raises ProblemError: if there is none of this name.
    """
    _discover()
    wanted = str(name).replace("-", "_")
    if wanted not in _known:
        close = get_close_matches(wanted[:50], _known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ProblemError(f"there is no generator '{name!s:.50}'; there are {listed(_known, 9)}.{hint}")
    return _known[wanted]


def _add(name: object, make: object) -> None:
    if not isinstance(name, str) or not callable(make):
        raise ProblemError(f"A generator is a name and a function, not {name!r:.50} and {make!r:.80}.")
    name = name.replace("-", "_")
    if name in BUILT_IN:
        raise ProblemError(f"'{name}' is a generator of duelmatch; choose another name.")
    _known[name] = make


@cache
def _discover() -> None:
    """Find the generators of installed packages, once. What cannot be loaded is left out, with a warning."""
    for entry in entry_points(group=GROUP):
        try:
            _add(entry.name, entry.load())
        except (Exception, SystemExit) as error:  # whatever another package does, this one goes on
            package = entry.dist.name if entry.dist else entry.value
            warnings.warn(f"The generator '{entry.name}' of {package} cannot be used: {error}", stacklevel=2)

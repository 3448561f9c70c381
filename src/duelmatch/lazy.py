"""Names of a package that are imported on their first use: importing the package costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` (PEP 562) for a package whose names live in these modules.

    A module that is mapped to nothing is itself such a name.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> object:
        if name in home:
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        elif homes.get(name) == ():
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        modules = [module for module, own in homes.items() if own == ()]
        return sorted({*vars(sys.modules[package]), *home, *modules})

    return get, names

"""Loops that numba compiles, imported and compiled when one of them is first called.

The compiler takes most of a second to import, and many commands never need it: what they count is small, or
done by numpy and scipy. So ``@compiled`` leaves a function alone until its first call.

    >>> from duelmatch.compiled import compiled
    >>> @compiled
    ... def total(numbers):
    ...     found = 0.0
    ...     for number in numbers:
    ...         found += number
    ...     return found

Compiled functions call each other without coming back to Python: before one is compiled, those that it names
are replaced by what numba makes of them, in the module that it is written in. What is compiled is kept in
``__pycache__``, so that it is compiled once on a machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from types import CodeType
from typing import Any, overload

_lock = RLock()
"""Two threads must not compile the same function twice: it takes seconds."""


class CompiledFunction:
    """A function that is compiled for the types of its arguments, when it is first called with them."""

    __name__: str

    def __init__(self, function: Callable[..., Any], nogil: bool) -> None:
        update_wrapper(self, function)
        self.py_func = function
        """The function as it is written: for numbers that do not fit into a machine word."""
        self._nogil = nogil
        self._machine_code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        if self._machine_code is None:
            return self.machine_code()(*arguments)
        return self._machine_code(*arguments)

    def machine_code(self) -> Callable[..., Any]:
        """Return what numba makes of the function."""
        with _lock:
            if self._machine_code is None:
                from numba import njit

                names = self.py_func.__globals__
                for name in _names(self.py_func.__code__):
                    if isinstance(other := names.get(name), CompiledFunction) and other is not self:
                        names[name] = other.machine_code()
                self._machine_code = njit(cache=True, nogil=self._nogil)(self.py_func)
                if names.get(self.__name__) is self:
                    names[self.__name__] = self._machine_code
            return self._machine_code


def _names(code: CodeType) -> set[str]:
    """Return all names that a function uses, those of its inner functions and comprehensions too."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


@overload
def compiled(function: Callable[..., Any]) -> Any: ...
@overload
def compiled(*, nogil: bool) -> Callable[[Callable[..., Any]], Any]: ...
def compiled(function: Callable[..., Any] | None = None, *, nogil: bool = False) -> Any:
    """Compile a function when it is first called; with ``nogil``, other threads run beside it."""
    if function is None:
        return lambda function: CompiledFunction(function, nogil)
    return CompiledFunction(function, nogil)

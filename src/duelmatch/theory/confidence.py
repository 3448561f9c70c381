"""Anytime bounds on a probability; knows nothing of matchings."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray


def paper_radius(
    counts: NDArray[np.int64], round_number: int, delta: float, events: int
) -> NDArray[np.float64]:
    """Return c_t = sqrt(ln(4 K t^3 / delta) / (2 T)) for means of T answers, and 1 where T = 0.

    If T <= t for all means and there are at most ``events`` (K in the paper) of them, all stay within
    their radius of their expectation, in all rounds t at once, with probability 1 - delta: by Hoeffding's
    inequality a mean of T answers is off by more with probability 2 delta / (4 K t^3), and summing over
    T <= t, K means and t gives delta pi^2 / 12 < delta.
    """
    scale = paper_scale(round_number, delta, events)
    return np.where(counts > 0, np.sqrt(scale / np.maximum(counts, 1)), 1.0)


def paper_scale(round_number: int, delta: float, events: int) -> float:
    """Return ln(4 K t^3 / delta) / 2: the square of a radius times its number of answers."""
    return log(4 * events * round_number**3 / delta) / 2

"""Ranges widened to round bounds, with which Spark can use code again that it has generated.

It writes the numbers and dates of a query into that code: with bounds that differ from those of the
last refresh by one, all that reads a table is compiled again, and begins uncompiled by the JVM.
Changes that are spread over a table have nearly the same range each time, and the same round one.
"""

from __future__ import annotations

import datetime


def rounded(low: int, high: int, least: int, greatest: int) -> tuple[int, int]:
    """A range around another, at most a quarter wider, within the limits of a type.

    Its bounds are multiples of an eighth to a sixteenth of the width, a power of two.
    """
    step = 1 << max(0, (high - low).bit_length() - 4)
    return max(low // step * step, least), min(-(-high // step) * step, greatest)


def rounded_dates(low: datetime.date, high: datetime.date) -> tuple[datetime.date, datetime.date]:
    """The same of days."""
    limits = datetime.date.min.toordinal(), datetime.date.max.toordinal()
    first, last = rounded(low.toordinal(), high.toordinal(), *limits)
    return datetime.date.fromordinal(first), datetime.date.fromordinal(last)

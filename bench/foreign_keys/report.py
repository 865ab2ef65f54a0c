"""The evaluation as Markdown: the tables and the plot of the paper's figures 5, 6 and 7."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from itertools import product

from bench.foreign_keys.rounds import (
    COUNTING,
    FULL,
    INNER,
    LOOKED,
    OFF,
    RECURSIVE,
    SPLIT,
    TOLD_APART,
    TRUSTING,
    UNGUARDED,
    delta,
)
from bench.foreign_keys.updates import SHARE
from bench.report import PHASES, table, told
from bench.samples import Samples
from bench.watch import Cost

COMPARED = ((COUNTING, SPLIT), (OFF, SPLIT), (OFF, TRUSTING))
"""Methods, and by which they are to be beaten."""
INCREMENTAL = (COUNTING, OFF, SPLIT, TRUSTING, INNER, RECURSIVE)
TITLES = {FULL: "full recompute", INNER: "M-OPT", RECURSIVE: "recursive IVM"}
WIDTH = 48
"""Of the longest bar of the plot."""

Seconds = Callable[[str, str], float]


def evaluation(samples: Samples, scale: float, rounds: int) -> str:
    """Delta time, refresh time, how they compare, where the time goes, and the plot."""

    def deltas(view: str, method: str) -> float:
        return delta(samples.phases(view, method)).seconds

    def refreshes(view: str, method: str) -> float:
        return samples.median(view, method).seconds

    head = (
        f"TPC-DS and for the chain TPC-H at scale {scale:g}; {SHARE * 100:g} % of the rows of the"
        f" tables that refer to none inserted and {SHARE * 100:g} % deleted, with all rows that"
        f" refer to them; median of {rounds} rounds in one warm run."
    )
    return "\n".join(
        [
            *[head, "", "Computing the change of the view (the paper's figures 5 and 7):", ""],
            *_times(samples, INCREMENTAL, deltas),
            *["", "The whole refresh (figures 6a and 7):", ""],
            *_times(samples, (FULL, *INCREMENTAL), refreshes),
            *["", "How many times faster (figure 6b):", ""],
            *_sets(samples.views, deltas, refreshes),
            *["", _of_checks(samples.views, deltas, refreshes)],
            *["", "Where the time goes:", ""],
            *_phases(samples),
            *["", *plot(samples, deltas, refreshes)],
        ]
    )


def of_guard(samples: Samples, scale: float, rounds: int) -> str:
    """What a refresh takes with its guard, with what that asks of changes alone, and without.

    Refreshes of one change are compared with each other: from round to round they differ by more
    than what is measured.
    """
    pairs = min(len(samples.of(view, SPLIT)) for view in samples.views)
    head = (
        f"TPC-DS and for the chain TPC-H at scale {scale:g}, changes as above; medians of {pairs}"
        f" refreshes in {rounds} rounds of one warm run, and between which a half of them is."
    )
    methods = (TRUSTING, SPLIT)
    more: dict[str, list[float]] = {method: [] for method in methods}
    rows = []
    for view in samples.views:
        seconds = [samples.median(view, m).seconds for m in (UNGUARDED, *methods)]
        shares = {m: samples.paired_ratios(view, m, UNGUARDED) for m in methods}
        for method, ratios in shares.items():
            more[method].append(statistics.median(ratios))
        phases = samples.phases(view, SPLIT)
        own = [f"{phases[name].seconds * 1000:.1f} ms" for name in (TOLD_APART, LOOKED)]
        cells = [*(f"{s:.2f} s" for s in seconds), *map(_spread, shares.values()), *own]
        rows.append([view, *cells])
    means = [f"{(statistics.geometric_mean(of) - 1) * 100:+.1f} %" for of in more.values()]
    rows.append(["geometric mean", "", "", "", *means, "", ""])
    taken = [f"{method} takes more" for method in methods]
    titles = ["view", "without", *methods, *taken, "changes told apart", "tables looked into"]
    return "\n".join([head, "", *table(titles, rows)])


def _spread(ratios: Sequence[float]) -> str:
    """By how much more the median is than one, and the quartiles."""
    low, middle, high = (f"{(r - 1) * 100:+.1f}" for r in statistics.quantiles(ratios, n=4))
    return f"{middle} % ({low} … {high})"


def _measured(samples: Samples, methods: Sequence[str]) -> list[str]:
    """The methods that were measured for any view."""
    return [m for m in methods if any(samples.of(view, m) for view in samples.views)]


def _times(samples: Samples, methods: Sequence[str], seconds: Seconds) -> list[str]:
    measured = _measured(samples, methods)
    rows = []
    for view in samples.views:
        times = [f"{seconds(view, m):.2f} s" if samples.of(view, m) else "" for m in measured]
        faster = [_times_faster(seconds(view, a), seconds(view, b)) for a, b in COMPARED]
        rows.append([view, *times, *faster])
    ratios = [f"{a} / {b}" for a, b in COMPARED]
    return table(["view", *(TITLES.get(m, m) for m in measured), *ratios], rows)


def _times_faster(slow: float, fast: float) -> str:
    return f"{slow / fast:.2f}" if fast else "–"


SETS: dict[str, Callable[[str], bool]] = {
    "one dimension": lambda view: view.endswith("_1dim"),
    "two": lambda view: view.endswith("_2dim"),
    "three": lambda view: view.endswith("_3dim"),
    "snowflake": lambda view: view.startswith("snwf"),
    "arbitrary": lambda view: view.startswith("arbt"),
    "chain": lambda view: view.startswith("chain"),
    "all": lambda _: True,
}


def _sets(views: Sequence[str], deltas: Seconds, refreshes: Seconds) -> list[str]:
    """The geometric mean over sets of views, and the least of them."""
    rows = []
    for name, is_in in SETS.items():
        some = [view for view in views if is_in(view)]
        if some:
            cells = []
            for (slow, fast), seconds in product(COMPARED, (deltas, refreshes)):
                ratios = [seconds(v, slow) / seconds(v, fast) for v in some if seconds(v, fast)]
                cells += [f"{statistics.geometric_mean(ratios):.2f}", f"{min(ratios):.2f}"]
            rows.append([name, str(len(some)), *cells])
    compared = product(COMPARED, ("delta", "refresh"))
    titles = [title for (a, b), what in compared for title in (f"{a} / {b}: {what}", "least")]
    return table(["set", "views", *titles], rows)


def _of_checks(views: Sequence[str], deltas: Seconds, refreshes: Seconds) -> str:
    """What looking for references to removed keys takes."""
    means = (
        statistics.geometric_mean(s(v, SPLIT) / s(v, TRUSTING) for v in views if s(v, TRUSTING))
        for s in (deltas, refreshes)
    )
    shares = " and the refresh ".join(f"{(mean - 1) * 100:+.0f} %" for mean in means)
    return (
        f"Looking for references to removed keys (`split` against `trusting`): the change {shares}."
    )


def _phases(samples: Samples) -> list[str]:
    """Seconds and jobs of each phase of a refresh, without foreign keys and with them."""
    rows = []
    for view in samples.views:
        for method in (COUNTING, OFF, SPLIT, TRUSTING):
            phases = samples.phases(view, method)
            costs = [told(phases.get(phase, Cost(0.0, 0))) for phase in PHASES]
            rows.append([f"{view}, {method}", *costs])
    return table(["view", *PHASES], rows)


def plot(samples: Samples, deltas: Seconds, refreshes: Seconds) -> list[str]:
    """A bar for each method of each view: what computing the change takes, and the rest."""
    methods = _measured(samples, (FULL, *INCREMENTAL))
    longest = max(refreshes(v, m) for v in samples.views for m in methods if samples.of(v, m))
    lines = ["```text", "█ computing the change  ░ the rest of the refresh  ▒ full recompute"]
    for view in samples.views:
        lines += ["", view]
        for method in methods:
            if samples.of(view, method):
                whole = refreshes(view, method)
                part = 0.0 if method == FULL else deltas(view, method)
                line = bar(part, whole, WIDTH / longest, "▒" if method == FULL else "░")
                lines.append(f"  {TITLES.get(method, method):14} {line} {whole:.1f} s")
    return [*lines, "```"]


def bar(part: float, whole: float, scale: float, rest: str) -> str:
    """A part and the rest of a whole, in characters; never nothing."""
    length = max(round(whole * scale), 1)
    first = min(round(part * scale), length)
    return "█" * first + rest * (length - first)

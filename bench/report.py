"""The measured ratios as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from bench.rounds import EVERVIEW, EXPERT, FULL, LEAST, NO_DATA
from bench.samples import Samples
from bench.watch import Cost
from everview import Action

DISTINCT_PHASES = ("pin", "capture", "compute", "counts", "apply", "check")
"""In `counts` the stored counts are merged; no constraint is relied on, so nothing is guarded."""
PHASES = ("pin", "capture", "guard", "compute", "apply", "check")


def contest(samples: Samples, scale: float, rounds: int, changed: str) -> str:
    """The methods side by side, the least of any refresh, and where the time goes."""
    (share,) = samples.shares
    head = _head(scale, f"{share * 100:g} % of the rows of {changed} changed", rounds)
    return "\n".join([head, "", *_ratios(samples), "", *_phases(samples)])


def sweep(samples: Samples, scale: float, rounds: int, changed: str) -> str:
    """Refresh under AUTO as a part of full recompute, for each share of changed rows."""
    shares = samples.shares
    head = _head(scale, f"a growing share of the rows of {changed} changed", rounds)
    rows = []
    for view in samples.views:
        ratios = [samples.ratio(view, EVERVIEW, FULL, share) for share in shares]
        actions = [_recomputed(samples, view, share) for share in shares]
        cells = [f"{r:.2f}{a}" for r, a in zip(ratios, actions, strict=True)]
        rows.append([view, *cells, f"{max(ratios):.2f}"])
    means = [samples.mean_ratio(EVERVIEW, FULL, share) for share in shares]
    rows.append(["geometric mean", *(f"{mean:.2f}" for mean in means), ""])
    columns = ["refresh / full", *(f"{share * 100:g} %" for share in shares), "greatest"]
    note = "*full*: AUTO recomputed the view, in every round or in some."
    return "\n".join([head, "", *table(columns, rows), "", note])


def relevance(samples: Samples, scale: float, rounds: int, changed: str) -> str:
    """A view with the analysis of relevance against the same view without it."""
    (share,) = samples.shares
    head = _head(scale, f"{share * 100:g} % of the rows of {changed} changed", rounds)
    with_it, without = samples.views
    rows = []
    for view, what in ((with_it, "on"), (without, "off")):
        cost, full = samples.median(view, EVERVIEW), samples.median(view, FULL)
        held = f"{samples.changed_rows(view, EVERVIEW):,}"
        compute = samples.phases(view, EVERVIEW).get("compute", Cost(0.0, 0))
        times = (f"{t:.2f} s" for t in (cost.seconds, compute.seconds))
        rows.append([what, held, *times, str(cost.jobs), f"{cost.seconds / full.seconds:.2f}"])
    on, off = (samples.median(view, EVERVIEW).seconds for view in (with_it, without))
    columns = ["relevance", "changed rows held", "refresh", "of it compute", "jobs", "/ full"]
    said = f"A refresh with the analysis takes {on / off:.2f} of the time of one without."
    return "\n".join([head, "", *table(columns, rows), "", said])


def distinct(samples: Samples, scale: float, rounds: int, changed: str) -> str:
    """Distinct values counted anew against counts that are stored, and where the time goes."""
    (share,) = samples.shares
    head = _head(scale, f"{share * 100:g} % of the rows of {changed} changed", rounds)
    methods = {FULL: "full recompute", EVERVIEW: "Everview", EXPERT: "stored counts"}
    compared = ((EVERVIEW, FULL), (EXPERT, FULL), (EXPERT, EVERVIEW))
    rows, phases = [], []
    for view in samples.views:
        times = [f"{samples.median(view, method).seconds:.2f} s" for method in methods]
        ratios = [f"{samples.ratio(view, method, to):.2f}" for method, to in compared]
        rows.append([view, *times, *ratios, f"{samples.extra_rows(view, EXPERT):,}"])
        for method in (EVERVIEW, EXPERT):
            of_method = samples.phases(view, method)
            costs = [told(of_method[p]) if p in of_method else "" for p in DISTINCT_PHASES]
            jobs = str(samples.median(view, method).jobs)
            phases.append([f"{view}, {methods[method]}", *costs, jobs])
    ratios = ["Everview / full", "stored counts / full", "stored counts / Everview"]
    return "\n".join(
        [
            *[head, ""],
            *table(["view", *methods.values(), *ratios, "counts stored"], rows),
            "",
            *table(["where the time goes", *DISTINCT_PHASES, "jobs"], phases),
        ]
    )


def _head(scale: float, changed: str, rounds: int) -> str:
    return f"TPC-H at scale {scale:g}, {changed}, median of {rounds} rounds in one warm run."


def _recomputed(samples: Samples, view: str, share: float) -> str:
    actions = [s.action for s in samples.of(view, EVERVIEW, share)]
    full = actions.count(Action.FULL)
    return " *full*" if full == len(actions) else f" *full {full} of {len(actions)}*" * bool(full)


def _ratios(samples: Samples) -> list[str]:
    rows = []
    compared = ((EVERVIEW, FULL), (EVERVIEW, EXPERT), (LEAST, FULL), (NO_DATA, FULL))
    for view in samples.views:
        methods = (FULL, EXPERT, EVERVIEW, LEAST)
        times = [samples.median(view, method).seconds for method in methods]
        ratios = [samples.ratio(view, method, to) for method, to in compared]
        rows.append([view, *(f"{t:.2f} s" for t in times), *_places(ratios)])
    means = [samples.mean_ratio(method, to) for method, to in compared]
    rows.append(["geometric mean", "", "", "", "", *_places(means)])
    columns = ["view", "full recompute", "expert's MERGE", "Everview", "least"]
    ratios = ["Everview / full", "Everview / expert", "least / full", "NO_DATA / full"]
    return table([*columns, *ratios], rows)


def _places(ratios: list[float]) -> list[str]:
    *others, no_data = ratios
    return [*(f"{ratio:.2f}" for ratio in others), f"{no_data:.3f}"]


def _phases(samples: Samples) -> list[str]:
    """Seconds and jobs of each phase, and the jobs of all of a refresh and of the others."""
    rows = []
    for view in samples.views:
        phases = samples.phases(view, EVERVIEW)
        costs = [told(phases.get(phase, Cost(0.0, 0))) for phase in PHASES]
        jobs = [str(samples.median(view, m).jobs) for m in (EVERVIEW, EXPERT, FULL)]
        rows.append([view, *costs, *jobs])
    columns = ["where the time goes", *PHASES, "jobs", "of the expert", "of full"]
    return table(columns, rows)


def told(cost: Cost) -> str:
    """Seconds and jobs."""
    jobs = {0: "no job", 1: "1 job"}.get(cost.jobs, f"{cost.jobs} jobs")
    return f"{cost.seconds:.2f} s, {jobs}"


def table(columns: list[str], rows: Iterable[list[str]]) -> list[str]:
    """A Markdown table, the first column to the left and the others to the right."""
    rule = f"|---|{'---:|' * (len(columns) - 1)}"
    head, *body = (f"| {' | '.join(cells)} |" for cells in [columns, *rows])
    return [head, rule, *body]

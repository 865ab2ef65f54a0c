"""The command `foreign-keys`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.foreign_keys import report
from bench.foreign_keys.rounds import GUARDED, STRATEGIES, Evaluation
from bench.foreign_keys.views import STAGES, JoinView, Stage
from bench.samples import Samples
from everview import Everview


@dataclass(frozen=True)
class ForeignKeysCommand:
    """Views along foreign keys, measured stage by stage."""

    help: str
    stages: Sequence[Stage]
    baselines: bool = True
    """Whether the methods by hand are measured too."""
    strategies: Mapping[str, str] = field(default_factory=lambda: STRATEGIES)
    """What Everview makes of foreign keys, each measured."""
    copies: int = 1
    """How many views each of these has, so that a round measures it so often."""
    render: Callable[[Samples, float, int], str] = report.evaluation

    @property
    def views(self) -> tuple[JoinView, ...]:
        return tuple(view for stage in self.stages for view in stage.views)

    def only(self, names: Collection[str]) -> ForeignKeysCommand:
        """The same for some of the views; stages without a view are left out."""
        some = (stage.only(names) for stage in self.stages)
        return replace(self, stages=tuple(stage for stage in some if stage.views))

    def without_baselines(self) -> ForeignKeysCommand:
        """The same without the methods by hand, whose tables take long to make at a large scale."""
        return replace(self, baselines=False)

    def generate(self, scale: float, cache: Path) -> dict[str, Path]:
        """For each benchmark the folder with the files of its tables."""
        schemas = {stage.schema.name: stage.schema for stage in self.stages}
        return {
            name: schema.generate(scale, cache, self._tables(name))
            for name, schema in schemas.items()
        }

    def _tables(self, schema: str) -> tuple[str, ...]:
        tables = (t for s in self.stages if s.schema.name == schema for t in s.tables)
        return tuple(dict.fromkeys(tables))

    def run(self, ev: Everview, files: Mapping[str, Path], rounds: int) -> Samples:
        """Measure the views."""
        given = self.baselines, self.strategies, self.copies
        return Evaluation(ev, self.stages, files, rounds, *given).run()

    def report(self, samples: Samples, scale: float, rounds: int) -> str:
        """What was measured, in Markdown."""
        return self.render(samples, scale, rounds)


FOREIGN_KEYS = ForeignKeysCommand(
    "views along foreign keys, as Svingos et al. 2023 evaluate them: each strategy, and others",
    STAGES,
)

GUARD = ForeignKeysCommand(
    "what it takes to check the foreign keys of these views while they are refreshed",
    STAGES,
    baselines=False,
    strategies=GUARDED,
    copies=4,
    render=report.of_guard,
)

"""Window functions: OVER, WINDOW and what QUALIFY compares → Window nodes, one per window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from everview.algebra.columns import Column
from everview.algebra.relations import Output, Relation, Window
from everview.algebra.scalars import ColumnRef, Scalar, Verbatim, columns_of
from everview.errors import Code, Span
from everview.sql.aggregate_calls import forbid, refuse_undetermined
from everview.sql.aggregate_functions import AGGREGATES, LISTS, OF_SOME_ROW, function_name
from everview.sql.naming import References, unused
from everview.sql.parser import exact_span, inside_of, span_of
from everview.sql.scalar_reader import Names, ScalarReader

_RANKS = {"rank", "dense_rank", "percent_rank", "cume_dist"}

Parts = tuple[str | Scalar, ...]


@dataclass
class _Node:
    """The functions over one window, as they are met."""

    ref: str
    partition_by: tuple[Scalar, ...]
    order_by: tuple[Scalar, ...]
    order: tuple[Parts, ...]
    functions: dict[Scalar, Column] = field(default_factory=dict)
    breaks_ties: bool = False


@dataclass
class Windows:
    """The window functions of one SELECT, gathered while its items are read.

    `named` are those of its WINDOW clause. They are spelled out in the calls that use them.
    """

    scalars: ScalarReader
    refs: References
    ref: str
    named: Mapping[str, exp.Window]
    nodes: list[_Node] = field(default_factory=list)

    def column(self, call: exp.Window, names: Names, name: str = "") -> Scalar:
        """The column of a call of a window function; equal calls share one."""
        chain = tuple(self._definitions(call))
        self._check(call, chain)
        partition = next((w.args["partition_by"] for w in chain if w.args.get("partition_by")), ())
        order = next((w.args["order"] for w in chain if w.args.get("order")), None)
        frame = next((w.args["spec"] for w in chain if w.args.get("spec")), None)
        ordered = order.expressions if order else ()
        node = self._node(
            tuple(self.scalars.read(p, names) for p in partition),
            tuple(self.scalars.read(o.this, names) for o in ordered),
            tuple(self._cut(exact_span(o), o, names) for o in ordered),
            text := Verbatim(self._text(call, chain, names)),
        )
        node.breaks_ties |= _breaks_ties(function_name(call.this), bool(ordered), frame)
        if text not in node.functions:
            taken = [c.name for c in node.functions.values()]
            made = unused(name or function_name(call.this) or "window", taken)
            node.functions[text] = Column(node.ref, made)
        return ColumnRef(node.functions[text])

    def over(self, input: Relation) -> Relation:
        """The rows with the values of all window functions."""
        for node in self.nodes:
            functions = tuple(Output(c, call) for call, c in node.functions.items())
            input = Window(input, node.partition_by, functions, node.order_by, node.breaks_ties)
        return input

    def _node(
        self,
        partition_by: tuple[Scalar, ...],
        order_by: tuple[Scalar, ...],
        order: tuple[Parts, ...],
        call: Scalar,
    ) -> _Node:
        """The node of a window; above those whose columns the call and the window read."""
        read = {c.ref for s in (*partition_by, *order_by, call) for c in columns_of(s)}
        above = max((at + 1 for at, n in enumerate(self.nodes) if n.ref in read), default=0)
        for node in self.nodes[above:]:
            if (node.partition_by, node.order) == (partition_by, order):
                return node
        node = _Node(self.refs.fresh(f"{self.ref}_windows"), partition_by, order_by, order)
        self.nodes.append(node)
        return node

    def _definitions(self, call: exp.Window) -> Iterator[exp.Window]:
        """The window of a call, then the named one it begins with, and so on."""
        window, seen = call, {""}
        while True:
            yield window
            name = window.args["alias"].name.lower() if window.args.get("alias") else ""
            if name in seen:
                return
            if name not in self.named:
                hint = "name a window of the WINDOW clause, or write OVER (…)"
                detail = f"there is no window {name}"
                self.scalars.findings.mistake(Code.INVALID_QUERY, detail, hint, span_of(call))
                return
            seen.add(name)
            window = self.named[name]

    def _check(self, call: exp.Window, chain: Sequence[exp.Window]) -> None:
        findings = self.scalars.findings
        is_known = not chain[-1].args.get("alias")
        if is_known and not any(w.args.get("partition_by") for w in chain):
            detail = "a window without PARTITION BY: every change would touch every row"
            hint = "add PARTITION BY, or use REFRESH POLICY FULL"
            findings.reason(Code.UNSUPPORTED_OPERATOR, detail, hint, exact_span(call))
        if function_name(call.this) not in OF_SOME_ROW:
            refuse_undetermined(call.this, findings)
        for window in chain:
            for child in window.iter_expressions():
                hint = "compute the inner one in a subquery"
                forbid(child, "inside a window function", hint, findings, aggregates=False)

    def _text(self, call: exp.Window, chain: Sequence[exp.Window], names: Names) -> Parts:
        """The whole call; the windows that OVER names are spelled out in it."""
        if len(chain) == 1:
            return self._cut(exact_span(call), call, names)
        windows: list[str | Scalar] = []
        for window in reversed(chain):
            inside, alias = inside_of(window), window.args.get("alias")
            named = span_of(alias) if alias is not None else None
            if inside is not None:
                start = named.end if named else inside.start
                while self.scalars.text[start].isspace():
                    start += 1
                own = self._cut(Span(start, inside.end), window, names)
                windows += [" " if windows and own else "", *own]
        call_alone = self.scalars.cut(exact_span(call.this) or Span(0, 0), (call.this,), names)
        return (*call_alone, " OVER (", *(p for p in windows if p), ")")

    def _cut(self, span: Span | None, node: exp.Expr, names: Names) -> Parts:
        """The text of a span of a node, cut at what stands below the node."""
        return self.scalars.cut(span, node.iter_expressions(), names) if span else ()


def _breaks_ties(function: str, has_order: bool, frame: exp.Expr | None) -> bool:
    """Whether a function tells rows apart that the order of its window does not."""
    if function in _RANKS:
        return False
    if function not in AGGREGATES or function in OF_SOME_ROW:
        return True
    if function in LISTS and has_order:
        return True
    return frame is not None and frame.text("kind").upper() == "ROWS" and not _is_whole(frame)


def _is_whole(frame: exp.Expr) -> bool:
    sides = (frame.args.get("start"), frame.args.get("end"))
    return all(str(side).upper() == "UNBOUNDED" for side in sides)

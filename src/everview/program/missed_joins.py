"""Why a join follows no foreign key, in words."""

from __future__ import annotations

from everview.algebra.printing import short_name
from everview.algebra.relations import JoinKind
from everview.analysis.missed_foreign_keys import Hindrance, Missed

_KINDS: dict[JoinKind | None, str] = {
    JoinKind.LEFT: "a left join",
    JoinKind.SEMI: "a semi join",
    JoinKind.ANTI: "an anti join",
    JoinKind.FULL: "a full join",
}


def reasons(missed: Missed) -> tuple[str, ...]:
    """Each thing that the join lacks, with its real names."""
    return tuple(_reason(missed, hindrance) for hindrance in missed.because)


def _reason(missed: Missed, hindrance: Hindrance) -> str:
    own = _columns(missed.source_table, missed.columns)
    target = _columns(missed.target_table, missed.target_columns)
    foreign_key, key = f"foreign key {missed.foreign_key}", f"key {missed.key}"
    match hindrance:
        case Hindrance.NOT_DECLARED:
            which = f"between {own} and" if missed.either_way else f"from {own} to"
            look = "everview keys suggest can look for one"
            return f"no foreign key is declared {which} {target}; {look}"
        case Hindrance.FOREIGN_KEY_NORELY:
            return f"{foreign_key} is declared without RELY"
        case Hindrance.NO_KEY:
            return f"{foreign_key} refers to {target}, which is no declared key"
        case Hindrance.KEY_NORELY:
            return f"{key} of {short_name(missed.target_table)} is declared without RELY"
        case Hindrance.PART:
            whole = f"the columns of {key}" if missed.key else "what is referred to"
            return f"only {_listed(missed.compared)} of {target}, {whole}, {_is(missed)} compared"
        case Hindrance.OTHER_TYPE:
            return f"{own} and {target} have different types"
        case Hindrance.NULLS_EQUAL:
            return f"{own} and {target} are compared by <=>, and both can be NULL"
        case Hindrance.KEPT:
            table = short_name(missed.target_table)
            return f"{_KINDS[missed.kept_by]} keeps rows of {table} that nothing refers to"
        case Hindrance.OTHER_KEY:
            table = short_name(missed.target_table)
            return f"{key} is not the one by which the changes of {table} are told apart"


def _columns(table: str, columns: tuple[str, ...]) -> str:
    return f"{short_name(table)} ({_listed(columns)})"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _is(missed: Missed) -> str:
    return "is" if len(missed.compared) == 1 else "are"

"""What a table is after a commit, in the form in which a checksum file tells it.

Delta writes such a file beside its commits. Where there is none, it is what an older one tells and
what the commits since then did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Told = Mapping[str, Any]
"""What a checksum file tells of a table."""
Action = Mapping[str, Any]
"""What a log says of a file, a transaction and so on, as Delta writes it down."""

_FILES, _NUMBER, _SIZE = "allFiles", "numFiles", "tableSizeBytes"
_TRANSACTIONS, _DOMAINS = "setTransactions", "domainMetadata"
_KEPT = {"metadata", "protocol", _TRANSACTIONS, _DOMAINS}


def after(told: Told, actions: Sequence[Mapping[str, Action]]) -> Told:
    """What a table is after a commit; what is not kept up is left out."""
    new: dict[str, Any] = {name: told[name] for name in _KEPT if name in told}
    for action in actions:
        new["metadata"] = action.get("metaData", new.get("metadata"))
        new["protocol"] = action.get("protocol", new.get("protocol"))
    new[_TRANSACTIONS] = _by(told.get(_TRANSACTIONS), "appId", actions, "txn")
    domains = _by(told.get(_DOMAINS), "domain", actions, _DOMAINS)
    new[_DOMAINS] = domains and [domain for domain in domains if not domain.get("removed")]
    files = _files(told.get(_FILES), actions)
    if files is None:
        return new
    size = sum(file["size"] for file in files)
    return {**new, _FILES: files, _NUMBER: len(files), _SIZE: size}


def names_files(told: Told) -> bool:
    """Whether all files of the table are told."""
    files = told.get(_FILES)
    return files is not None and len(files) == told.get(_NUMBER)


def _by(
    known: Sequence[Action] | None, key: str, actions: Sequence[Mapping[str, Action]], kind: str
) -> list[Action] | None:
    """What is told of each thing by its key, as a commit leaves it; None if it is not known."""
    if known is None:
        return None
    new = [action[kind] for action in actions if kind in action]
    return list({thing[key]: thing for thing in (*known, *new)}.values())


def _files(
    known: Sequence[Action] | None, actions: Sequence[Mapping[str, Action]]
) -> list[Action] | None:
    """The files of a table: a file in which other rows are marked goes and comes."""
    if known is None:
        return None
    gone = {_identity(action["remove"]) for action in actions if "remove" in action}
    stay = [file for file in known if _identity(file) not in gone]
    came = [{**action["add"], "dataChange": False} for action in actions if "add" in action]
    return [*stay, *came]


def _identity(file: Action) -> tuple[object, ...]:
    """What tells a file with what is marked in it from others."""
    vector = file.get("deletionVector") or {}
    return file["path"], vector.get("pathOrInlineDv"), vector.get("offset")

"""What a table is after commits, told as a checksum file tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everview.warehouse.delta_log import MOST_FILES, DeltaLog
from everview.warehouse.replay import after
from tests.unit.logs import field, file, info, metadata, summary, write_commit, write_summary

TOLD = summary(
    file("a", size=3),
    file("b", size=4),
    setTransactions=[{"appId": "x", "version": 1}, {"appId": "y", "version": 7}],
    domainMetadata=[{"domain": "d", "configuration": "1"}, {"domain": "e", "configuration": "2"}],
    fileSizeHistogram={"fileCounts": [2]},
)


def vector(offset: int) -> dict[str, Any]:
    return {"deletionVector": {"storageType": "u", "pathOrInlineDv": "p", "offset": offset}}


def test_files_go_and_come() -> None:
    new = after(TOLD, [info(), {"remove": file("a")}, {"add": file("c", size=9, dataChange=True)}])
    assert [f["path"] for f in new["allFiles"]] == ["b", "c"]
    assert (new["numFiles"], new["tableSizeBytes"]) == (2, 13)
    assert not new["allFiles"][1]["dataChange"]
    assert TOLD["numFiles"] == 2 and len(TOLD["allFiles"]) == 2, "what was told stays"


def test_a_file_in_which_rows_are_marked_goes_and_comes_again() -> None:
    once = after(TOLD, [{"add": file("a", **vector(1))}, {"remove": file("a")}])
    assert [f["path"] for f in once["allFiles"]] == ["b", "a"]
    twice = after(once, [{"remove": file("a", **vector(1))}, {"add": file("a", **vector(9))}])
    assert [f.get("deletionVector", {}).get("offset") for f in twice["allFiles"]] == [None, 9]


def test_transactions_and_domains_are_those_that_came_last() -> None:
    new = after(
        TOLD,
        [
            {"txn": {"appId": "x", "version": 2}},
            {"txn": {"appId": "z", "version": 1}},
            {"domainMetadata": {"domain": "d", "configuration": "3", "removed": False}},
            {"domainMetadata": {"domain": "e", "configuration": "", "removed": True}},
        ],
    )
    assert {t["appId"]: t["version"] for t in new["setTransactions"]} == {"x": 2, "y": 7, "z": 1}
    assert [(d["domain"], d["configuration"]) for d in new["domainMetadata"]] == [("d", "3")]


def test_the_table_itself_may_be_another() -> None:
    other = metadata(field("new"))
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    new = after(TOLD, [{"metaData": other}, {"protocol": protocol}])
    assert (new["metadata"], new["protocol"]) == (other, protocol)
    assert after(new, [info()])["metadata"] == other


def test_what_is_not_known_stays_unknown() -> None:
    less = {name: TOLD[name] for name in ("metadata", "protocol")}
    new = after(less, [{"add": file("c")}, {"txn": {"appId": "x", "version": 2}}])
    assert new.get("allFiles") is None and new["setTransactions"] is None
    assert new["domainMetadata"] is None
    assert "fileSizeHistogram" not in after(TOLD, []), "nobody keeps it up"


def test_a_log_tells_of_a_version_by_the_newest_checksum_file(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    write_commit(tmp_path, 3, info())
    write_summary(tmp_path, 3, TOLD)
    write_commit(tmp_path, 4, info(), {"add": file("c")})
    write_commit(tmp_path, 5, info(), {"remove": file("b")})
    found = log.told(5)
    assert found and [f["path"] for f in found["allFiles"]] == ["a", "c"]
    assert log.told(3) == TOLD
    assert log.told(2) is None
    write_summary(tmp_path, 5, TOLD)
    assert log.told(5) == TOLD, "what Delta wrote is believed"


def fileless(files: int) -> dict[str, Any]:
    """What Delta tells of a table of many files: how many there are."""
    return {**summary(), "allFiles": None, "numFiles": files}


def test_files_that_the_newest_checksum_does_not_name_are_those_of_an_older_one(
    tmp_path: Path,
) -> None:
    log = DeltaLog(tmp_path)
    write_commit(tmp_path, 3, info())
    write_summary(tmp_path, 3, TOLD)
    for version in (4, 5):
        write_commit(tmp_path, version, info(), {"add": file(f"new-{version}")})
        write_summary(tmp_path, version, fileless(version))
    found = log.told(5)
    assert found and [f["path"] for f in found["allFiles"]] == ["a", "b", "new-4", "new-5"]
    write_summary(tmp_path, 5, fileless(MOST_FILES + 1))
    assert log.told(5) == fileless(MOST_FILES + 1), "so many are not looked at here"


def test_where_no_checksum_names_files_the_newest_is_all_that_is_known(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    write_commit(tmp_path, 3, info())
    write_commit(tmp_path, 4, info())
    write_summary(tmp_path, 4, fileless(60))
    assert log.told(4) == fileless(60)
    write_summary(tmp_path, 3, fileless(59))
    assert log.told(4) == fileless(60)
    write_summary(tmp_path, 3, TOLD)
    write_commit(tmp_path, 4, info(), {"remove": {"no": "path"}})
    assert log.told(4) == fileless(60), "what the commit did is not understood"


def test_a_log_with_a_gap_or_a_damaged_commit_tells_nothing(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    write_commit(tmp_path, 3, info())
    write_summary(tmp_path, 3, TOLD)
    write_commit(tmp_path, 5, info())
    assert log.told(5) is None
    write_commit(tmp_path, 4, info()).write_text("{")
    assert log.told(5) is None

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs import text as gpfs_text
from hypothesis import given
from hypothesis import strategies as st

GPFS = Path(__file__).resolve().parents[4] / "transcripts/storage/gpfs"
HEADER = "mmx::HEADER:version:reserved:reserved:"


def transcript(name: str) -> str:
    return (GPFS / name).read_text()


def test_record_types_are_kept_apart() -> None:
    answer = gpfs_text.parse(transcript("mmlscluster_y.txt"), "mmlscluster")
    (summary,) = answer["clusterSummary"]
    assert (summary["clusterName"], summary["clusterId"]) == ("cluster.domain.com", "2936932203756487754")
    assert [row["designation"] for row in answer["clusterNode"]] == ["quorum", "quorumManager"]


@pytest.mark.parametrize("release", ["5.1", "5.2"])
def test_releases_add_fields(release: str) -> None:
    (row,) = gpfs_text.parse(transcript(f"mmgetstate_y_{release}.txt"), "mmgetstate")[""]
    assert (row["nodeName"], row["state"], row["remarks"]) == ("ec01", "active", "quorum node")
    assert row["daemonNodeName"] == ("ec01" if release == "5.2" else "")


def test_fields_are_decoded_once() -> None:
    (row,) = gpfs_text.parse(transcript("mmlsfs_y.txt"), "mmlsfs")[""]
    assert row["data"] == "/ibm/FS1"
    (row,) = gpfs_text.parse(f"{HEADER}a:b:c:\nmmx::0:1:::%2Da%5Fb:x%253Ay:c+d%20e:\n", "mmx")[""]
    assert (row["a"], row["b"], row["c"]) == ("-a_b", "x%3Ay", "c+d e")


def test_a_longer_row_keeps_its_surplus_and_a_shorter_one_has_empty_fields() -> None:
    longer, shorter = gpfs_text.parse(f"{HEADER}a:b:\nmmx::0:1:::1:2:3:4:\nmmx::0:1:::1:\n", "mmx")[""]
    assert (longer["a"], longer["b"], longer[gpfs_text.EXTRA]) == ("1", "2", "3:4")
    assert (shorter["a"], shorter["b"]) == ("1", "")


def test_names_are_found_in_any_case() -> None:
    (row,) = gpfs_text.parse(f"{HEADER}filesetname:RESERVED:\nmmx::0:1:::projects::\n", "mmx")[""]
    assert row["filesetName"] == row["FILESETNAME"] == "projects"


def test_a_header_may_come_again_with_other_fields() -> None:
    text = f"{HEADER}a:b:\nmmx::0:1:::1:2:\n{HEADER}b:a:\nmmx::0:1:::2:1:\n"
    assert [(row["a"], row["b"]) for row in gpfs_text.parse(text, "mmx")[""]] == [("1", "2"), ("1", "2")]


NOISE = "*** Report for USR GRP quotas on fs1\nAuthorized users only: all activity: is: logged: here:\nmmxy::0:1:::9:\n"
WAITING = "mmx: Unable to obtain the GPFS configuration file lock. Retrying ...\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"{HEADER}a:\n", []),
        # banners and other commands are no rows
        (f"{NOISE}{HEADER}a:\n{NOISE}mmx::0:1:::1:\n", [{"a": "1"}]),
        # waiting for the lock is no complaint
        (f"{WAITING}{HEADER}a:\n", []),
    ],
)
def test_only_rows_of_the_command_are_rows(text: str, rows: list[dict[str, str]]) -> None:
    assert gpfs_text.parse(text, "mmx") == {"": rows}


def test_a_complaint_beside_the_answer_is_no_answer() -> None:
    with pytest.raises(gpfs_text.UnreadableAnswer, match="GPFS is down on this node"):
        gpfs_text.parse(f"{HEADER}a:\nmmx: GPFS is down on this node.\n", "mmx")


@pytest.mark.parametrize("text", ["", "File system fs1 is not mounted.\n", "mmx::0:1:::1:\n"])
def test_without_a_header_there_is_no_answer(text: str) -> None:
    with pytest.raises(gpfs_text.UnreadableAnswer, match="mmx -Y printed no header"):
        gpfs_text.parse(text, "mmx")


VALUES = st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"])), min_size=1, max_size=4)


@given(rows=st.lists(VALUES, max_size=4))
def test_encoded_rows_come_back(rows: list[list[str]]) -> None:
    names = "abcd"
    lines = [f"{HEADER}{':'.join(names)}:"]
    lines += [f"mmx::0:1:::{':'.join(quote(value) for value in row)}:" for row in rows]
    parsed = gpfs_text.parse("\n".join(lines), "mmx")[""]
    assert [[row[name] for name in names[: len(rows[index])]] for index, row in enumerate(parsed)] == rows

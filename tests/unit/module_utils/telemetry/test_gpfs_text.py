# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.text import parse
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import exposition
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import FAMILIES, GPFS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.gpfs_text import (
    ABOUT,
    STATES,
    Sample,
    mounts,
    perf,
    state,
    text,
    waiters,
)

from tests.conformance.tree import ROOT

TRANSCRIPTS = ROOT / "tests/transcripts/storage/gpfs"
PERF = (TRANSCRIPTS / "mmpmon_fs_io_s.txt").read_text()
WAITERS = parse((TRANSCRIPTS / "mmdiag_waiters_y.txt").read_text(), "mmdiag")["waiters"]
NO_MOUNT = "_fs_io_s_ _n_ 199.18.1.8 _nn_ node1 _rc_ 1 _t_ 1066660148 _tu_ 407431 _cl_ - _fs_ -\n"
WANTED = {"scratch": "/fs/scratch", "project": "/fs/project", "other": "/fs/other", "absent": "/fs/absent"}
TABLE = {"/fs/scratch": ("gpfs", "scratch"), "/fs/project": ("ext4", "/dev/sda1"), "/fs/other": ("nfs", "filer:/")}


def everything() -> list[Sample]:
    return [*mounts({**WANTED, "odd": '/a"b\\c'}, TABLE, perf(PERF)), *state("active"), *perf(PERF), *waiters(WAITERS)]


def test_its_text_is_that_of_the_table_of_metrics() -> None:
    samples = [exposition.Sample(*sample) for sample in everything()]
    assert text(everything()) == exposition.text(samples)
    assert list(ABOUT) == [name for name, family in FAMILIES.items() if family.file == GPFS]


def test_counters_have_the_exporters_names() -> None:
    shown = text(perf(PERF))
    assert 'gpfs_perf_read_bytes_total{fs="scratch"} 205607400434\n' in shown
    assert 'gpfs_perf_write_bytes_total{fs="scratch"} 74839282351\n' in shown
    known = {"closes": 513, "inode_updates": 169, "opens": 513, "read_dir": 0, "reads": 0, "writes": 0}
    for operation, value in known.items():
        assert f'gpfs_perf_operations_total{{fs="project",operation="{operation}"}} {value}\n' in shown
    assert shown.count("\ngpfs_perf_") == 2 * 8


def test_a_node_without_a_mount_has_no_counters() -> None:
    assert perf(NO_MOUNT) == [] and text([]) == ""


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no answer"),
        ("mmpmon: Unexpected mmpmon response from file system daemon.\n", "no answer"),
        (PERF.replace("_rc_ 0", "_rc_ 668", 1), "return code 668"),
        (PERF + NO_MOUNT, "return code 1"),
        (PERF.replace(" _rc_ 0", "", 1), "return code None"),
        (PERF.replace(" _iu_ 169", ""), "lacks counters"),
        (PERF.replace("_fs_ project", "_fs_", 1), "lacks counters"),
        (PERF.replace("_br_ 0", "_br_ many"), "invalid literal"),
    ],
)
def test_an_answer_that_can_not_be_trusted_gives_nothing(answer: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        perf(answer)


@pytest.mark.parametrize(("seen", "known"), [*((name, name) for name in STATES), ("unresponsive", "unknown")])
def test_one_state_is_1(seen: str, known: str) -> None:
    values = {labels["state"]: value for _name, labels, value in state(seen)}
    assert values == {name: name == known for name in (*STATES, "unknown")}


def test_waiters_are_counted_by_name_without_those_that_have_no_work() -> None:
    count = "gpfs_waiter_info_count"
    longest = "drawbridge_gpfs_longest_wait_seconds"
    found = [(count, {"waiter": "RebuildWorkThread"}, 3), (count, {"waiter": "NSDThread"}, 1), (longest, {}, 64.3)]
    assert waiters(WAITERS) == found
    assert waiters([]) == [(longest, {}, 0)]


def test_a_mount_is_the_kernels_or_one_that_gpfs_counts_for() -> None:
    def found(counted: list[Sample] | None) -> dict[str, float]:
        return {labels["mount"]: value for _name, labels, value in mounts(WANTED, TABLE, counted)}

    assert found(perf(PERF)) == {"/fs/scratch": 1, "/fs/project": 1, "/fs/other": 0, "/fs/absent": 0}
    assert found([]) == {"/fs/scratch": 1, "/fs/project": 0, "/fs/other": 0, "/fs/absent": 0}
    assert found(None) == {"/fs/scratch": 1, "/fs/absent": 0}


def test_a_file_system_that_gpfs_counts_for_elsewhere_is_not_mounted_here() -> None:
    [(_name, _labels, value)] = mounts({"scratch": "/elsewhere"}, TABLE, perf(PERF))
    assert value == 0

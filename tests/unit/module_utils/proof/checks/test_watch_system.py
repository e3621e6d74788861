# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch_system import (
    IDLE,
    SYSTEM_CHECKS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Missing,
    Remark,
)

from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import CHRONY, DF, OUTPUTS, SYSTEM, TIMEDATECTL
from tests.unit.module_utils.proof.transcripts import changed

CHECKS = {check.name: check for check in SYSTEM_CHECKS}
NODE = replace(healthy.NODE, memory_mib=2_063_000)
MEMINFO, MOUNTS, NVME = "/proc/meminfo", "/proc/self/mounts", "/sys/class/nvme/nvme1/state"
UE = "/sys/devices/system/edac/mc/mc0/ue_count"
DAEMONLESS = Output("506 Cannot talk to daemon\n", "", 1)
NO_SYSTEMD = Output("", "System has not been booted with systemd as init system (PID 1). Can't operate.\n", 1)
ABSENT = Output("", "", 127)


def found(
    name: str,
    outputs: Mapping[tuple[str, ...], str | Output] | None = None,
    texts: Mapping[str, str | None] | None = None,
) -> list[Found]:
    return healthy.found(CHECKS[name], NODE, outputs, {**SYSTEM, **(texts or {})})


@pytest.mark.parametrize("idle", [{}, {IDLE: ""}])
@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_node_has_no_finding(name: str, idle: dict[str, str]) -> None:
    assert CHECKS[name].applies(NODE) and found(name, texts=idle) == []


@pytest.mark.parametrize("name", CHECKS)
def test_a_node_without_the_files_has_no_finding(name: str) -> None:
    assert found(name, texts={**dict.fromkeys([*SYSTEM, "/proc/uptime"]), IDLE: ""}) == []


@pytest.mark.parametrize(
    ("name", "path", "text", "where", "why", "ends"),
    [
        (
            "memory size",
            MEMINFO,
            "MemTotal: 1979711488 kB\n",
            "gpu01",
            "it has 1933312 MiB, the intent says 2063000",
            "",
        ),
        ("memory errors", UE, "2\n", "gpu01 mc0", "2 errors since boot that could not be corrected", "reboot"),
        ("disk state", NVME, "dead\n", "gpu01 nvme1", "it is dead, not live", ""),
        ("disk state", NVME, "deleting (no IO)\n", "gpu01 nvme1", "it is deleting (no IO), not live", ""),
        ("read-only file systems", MOUNTS, "/dev/sda1 / ext4 ro,relatime 0 0\n", "gpu01 /", "no more to it (ext4)", ""),
        (
            "read-only file systems",
            MOUNTS,
            "/dev/sda1 / ext4 rw 0 0\n/dev/sda2 /var xfs rw 0 0\n/dev/sda2 /var xfs ro,noatime 0 0\n",
            "gpu01 /var",
            "the kernel writes no more to it (xfs)",
            "",
        ),
    ],
)
def test_a_fault_is_named_with_its_part(name: str, path: str, text: str, where: str, why: str, ends: str) -> None:
    [one] = found(name, texts={path: text})
    assert isinstance(one, Remark) and (one.name, one.where, one.ends, one.warning) == (name, where, ends, False)
    assert why in one.why


@pytest.mark.parametrize(
    ("name", "path", "text"),
    [
        ("memory size", MEMINFO, "news\n"),
        ("leaked memory", MEMINFO, "MemTotal: 2113405212 kB\n"),
        ("memory errors", UE, "many\n"),
        ("disk state", NVME, "\n"),
        ("disk state", NVME, "5\n"),
        ("read-only file systems", MOUNTS, "news\n"),
    ],
)
def test_a_text_that_is_not_recognised_is_missing(name: str, path: str, text: str) -> None:
    [one] = found(name, texts={path: text, IDLE: ""})
    assert isinstance(one, Missing) and one.why.startswith(f"not recognised: {path} has ")


@pytest.mark.parametrize(
    "mounts",
    ["/dev/loop0 / squashfs ro 0 0\n", "/dev/a / ext4 ro 0 0\noverlay / overlay rw 0 0\n", "/dev/a /x ext4 ro 0 0\n"],
)
def test_a_file_system_that_was_made_read_only_or_is_not_the_systems_is_no_finding(mounts: str) -> None:
    assert found("read-only file systems", texts={MOUNTS: mounts}) == []


def test_two_percent_of_the_memory_may_be_the_kernels() -> None:
    least = int(2_063_000 * 1024 * 0.98)
    assert found("memory size", texts={MEMINFO: f"MemTotal: {least + 1} kB\n"}) == []
    assert found("memory size", texts={MEMINFO: f"MemTotal: {least - 1} kB\n"}) != []
    assert not CHECKS["memory size"].applies(replace(NODE, memory_mib=0))


def test_memory_is_leaked_only_while_no_job_runs() -> None:
    text = changed(SYSTEM[MEMINFO], "MemAvailable:   2080000000", "MemAvailable:   209715200")
    assert found("leaked memory", texts={MEMINFO: text}) == []
    [one] = found("leaked memory", texts={MEMINFO: text, IDLE: ""})
    why = "204800 MiB of 2062848 MiB are left, although no job runs"
    assert one == Remark("leaked memory", "gpu01", why)
    huge = changed(text, "Hugetlb:         1048576", "Hugetlb:         1048576000")
    assert found("leaked memory", texts={MEMINFO: huge, IDLE: ""}) == []


@pytest.mark.parametrize(
    ("chrony", "systemd", "why", "warning"),
    [
        (changed(OUTPUTS[CHRONY], ",0.000006523,", ",-1.500000000,"), "", "it is 1.5 s off", False),
        (changed(OUTPUTS[CHRONY], "Normal", "Not synchronised"), "", "it follows no other clock", True),
        (ABSENT, "NTP=yes\nNTPSynchronized=no\n", "it follows no other clock", True),
        (DAEMONLESS, "NTP=yes\nNTPSynchronized=no\n", "it follows no other clock", True),
    ],
)
def test_a_clock(chrony: str | Output, systemd: str, why: str, warning: bool) -> None:
    outputs = {CHRONY: chrony, TIMEDATECTL: systemd}
    assert found("clock", outputs) == [Remark("clock", "gpu01", why, warning)]
    assert found("clock", outputs, {"/proc/uptime": "599.9 9\n"}) == []


@pytest.mark.parametrize(
    ("chrony", "systemd"),
    [
        (ABSENT, ABSENT),
        (ABSENT, NO_SYSTEMD),
        (ABSENT, "NTP=no\nNTPSynchronized=no\n"),
        (DAEMONLESS, OUTPUTS[TIMEDATECTL]),
        (changed(OUTPUTS[CHRONY], ",0.000006523,", ",1.000000000,"), ABSENT),
        (changed(OUTPUTS[CHRONY], "Normal", "Insert second"), "news"),
    ],
)
def test_a_clock_that_is_right_and_a_node_without_a_time_service(chrony: str | Output, systemd: str | Output) -> None:
    assert found("clock", {CHRONY: chrony, TIMEDATECTL: systemd}) == []


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        ({CHRONY: "news\n"}, "not recognised (exit code 0): news"),
        ({CHRONY: Output("", "", 124)}, "it hung"),
        ({CHRONY: ABSENT, TIMEDATECTL: "NTP=maybe\n"}, "not recognised (exit code 0): NTP=maybe"),
    ],
)
def test_a_time_service_that_hangs_or_says_something_new_is_missing(
    outputs: dict[tuple[str, ...], str | Output], why: str
) -> None:
    [one] = found("clock", outputs)
    assert isinstance(one, Missing) and one.why.startswith(why)


def space(rows: str, **texts: str) -> list[Found]:
    return found("disk space", {DF: f"Use% IUse% Mounted on\n{rows}"}, texts)


@pytest.mark.parametrize(
    ("rows", "where", "why"),
    [
        (" 96%    4% /\n", "gpu01 /", "96 % of its bytes are in use"),
        (" 17%    4% /\n 50%  100% /var\n", "gpu01 /var", "100 % of its inodes are in use"),
        ("100%     - /tmp\n", "gpu01 /tmp", "100 % of its bytes are in use"),
        (" 17%    4% /\n 99%    1% /dev/shm\n", "gpu01 /dev/shm", "99 % of its bytes are in use"),
    ],
)
def test_a_full_file_system(rows: str, where: str, why: str) -> None:
    assert space(rows, **{IDLE: ""}) == [Remark("disk space", where, why)]
    assert bool(space(rows)) is (where in ("gpu01 /", "gpu01 /var"))


def test_a_file_system_at_the_limit_or_a_read_only_one_is_no_finding() -> None:
    assert space(" 95%   95% /\n") == []
    assert space("100%    -  /\n", **{MOUNTS: "/dev/loop0 / squashfs ro 0 0\n"}) == []


def test_df_that_hangs_or_prints_something_else_is_missing_and_without_df_there_is_no_finding() -> None:
    some = Output(OUTPUTS[DF], "df: /var: No such file or directory\n", 1)
    assert found("disk space", {DF: some}) == found("disk space", {DF: ABSENT}) == []
    for output, why in ((Output(OUTPUTS[DF], "", 124), "it hung"), (Output("", "news\n", 1), "not recognised")):
        [one] = found("disk space", {DF: output})
        assert isinstance(one, Missing) and one.why.startswith(why)

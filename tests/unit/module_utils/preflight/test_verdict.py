# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import (
    CAUSES,
    Answer,
    Found,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.verdict import (
    ROWS,
    document,
    found,
    lines,
)

from tests.unit.module_utils.preflight_site import CASES, QUIET, WANT, changed, planted

SWAP = planted("system", swaps=["/dev/sda2"])


def said(findings: list[Found], *accepted: str) -> list[str]:
    return list(lines(document(findings, 4, accepted), "accepted"))


def test_names_are_unique_and_every_row_says_all() -> None:
    assert all(row.cause in CAUSES and row.condition and row.why and row.repair for row in ROWS.values())
    assert len(ROWS) == 40
    assert all(CASES.values()) and not {*CASES} - {*ROWS}


def test_a_sound_site_is_one_line_and_an_unknown_fact_is_no_finding() -> None:
    for facts in (*map(changed, QUIET), {}):
        assert found([Answer("gpu01", facts, WANT)]) == []
    assert said([]) == ["Preflight: sound, 4 hosts."]


def test_a_lost_host_has_one_finding() -> None:
    assert [it.name for it in found([Answer("gpu01", {}, {}, (), "timed out")])] == ["unreachable"]


def test_the_verdict_is_first_and_equal_findings_are_one_line() -> None:
    given = [
        Found("mtu_path", "gpu01", "gpu02 by eth0: 1500 bytes do not pass"),
        Found("swap_on", "gpu02", "swap is on: /dev/sda2"),
        Found("swap_on", "gpu01", "swap is on: /dev/sda2"),
        Found("cgroup_v1", "gpu04", "/sys/fs/cgroup is tmpfs, not cgroup2"),
    ]
    assert said(given, "cgroup_v1") == [
        "Preflight: not sound. 2 findings on 2 of 4 hosts; accepted: cgroup_v1.",
        "",
        "Operating system",
        "  swap_on: the kubelet refuses to start, and jobs can exceed their memory limit",
        "    gpu[01-02]: swap is on: /dev/sda2",
        "    repair: run swapoff --all, and remove swap from /etc/fstab",
        "",
        "NICs and network",
        "  mtu_path: connections hang when they send much",
        "    gpu01: gpu02 by eth0: 1500 bytes do not pass",
        "    repair: set one MTU on both hosts and on all switch ports between them",
        "",
        "Accepted",
        "  cgroup_v1  gpu04: /sys/fs/cgroup is tmpfs, not cgroup2",
        "",
        "Next: make the repairs, or accept findings with accepted: [swap_on, mtu_path]",
    ]


def test_accepted_findings_leave_a_site_sound() -> None:
    report = document(found([Answer("gpu01", SWAP, WANT)]), 1, ["swap_on"])
    assert report["sound"]
    assert report["findings"][0]["accepted"]
    assert next(lines(report, "accepted")) == "Preflight: sound, 1 host; accepted: swap_on."


def test_a_hosts_own_name_folds() -> None:
    given = [Found("name_is_loopback", host, f"{host} is 127.0.1.1") for host in ("gpu01", "gpu02")]
    assert document(given, 2, [])["findings"][0]["text"] == "HOST is 127.0.1.1"

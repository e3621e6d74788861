# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer, of_table
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.reach_findings import TABLE

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("probe_silent", {**SOUND, "silent": {"pci": "no answer within 20 s"}}, "probe pci: no answer within 20 s"),
    (
        "port_blocked",
        {**SOUND, "ports": [{"host": "ctl", "port": 6817, "open": False, "end": "no answer"}]},
        "it can't connect to ctl:6817 (no answer)",
    ),
    (
        "port_blocked",
        {**SOUND, "ports": [{"host": "api", "port": 6443, "open": True, "end": "refused"}]},
        "it can't connect to api:6443 (refused)",
    ),
    ("name_unresolved", planted("names", ctl=""), "it can't resolve ctl"),
    ("name_is_loopback", planted("names", gpu01="127.0.1.1"), "its own name resolves to 127.0.1.1"),
    (
        "hostname_differs",
        planted("system", hostname="localhost"),
        "its host name is localhost, but the inventory calls it gpu01",
    ),
    (
        "selinux_without_policy",
        planted("security", selinux="Enforcing", policies=["ssh"]),
        "SELinux is enforcing, and no policy module for Slurm is installed",
    ),
    ("firewall_closed", planted("security", closed=[6818]), "its firewall drops TCP ports 6818"),
    (
        "proxy_set",
        planted("security", proxies={"https_proxy": "http://p:1", "no_proxy": "localhost,ctl"}),
        "https_proxy is set, and no_proxy lacks api.example.org",
    ),
]


@pytest.mark.parametrize(("name", "facts", "text"), CASES)
def test_a_fault_is_the_only_finding(name: str, facts: dict[str, Any], text: str) -> None:
    assert [(it.name, it.text) for it in of_table(TABLE, Answer("gpu01", facts, WANT))] == [(name, text)]


def test_every_finding_has_a_case() -> None:
    assert {row.name for row in TABLE} == {name for name, _, _ in CASES}


@pytest.mark.parametrize(
    "facts",
    [
        SOUND,
        {},
        planted("security", selinux="Enforcing", policies=["slurm"]),
        planted("security", proxies={"https_proxy": "http://p:1", "no_proxy": "ctl,.example.org"}),
    ],
)
def test_a_sound_or_unknown_host_has_none(facts: dict[str, Any]) -> None:
    assert list(of_table(TABLE, Answer("gpu01", facts, WANT))) == []

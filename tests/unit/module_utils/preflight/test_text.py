# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import text


def test_closed_ports_are_those_of_the_rules() -> None:
    assert text.closed_ports("-P INPUT DROP\n-A INPUT -p tcp --dport 6818 -j ACCEPT\n", [6818, 10250]) == [10250]


def test_swaps_are_what_follows_the_heading() -> None:
    assert text.swaps("Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n") == ["/dev/sda2"]
    assert text.swaps("Filename\t\t\t\tType\n") == []


def test_units_are_blocks() -> None:
    assert text.settings("Id=a.service\nLoadState=loaded\n\nId=b.service\nLoadState=not-found\n") == [
        {"Id": "a.service", "LoadState": "loaded"},
        {"Id": "b.service", "LoadState": "not-found"},
    ]


def test_proxies_come_from_the_environment_and_from_files() -> None:
    found = text.proxies({"HTTP_PROXY": "http://a:1", "PATH": "/bin"}, ['export no_proxy="ctl,.example.org"\n# x=y\n'])
    assert found == {"http_proxy": "http://a:1", "no_proxy": "ctl,.example.org"}


@pytest.mark.parametrize(
    ("no_proxy", "name", "is_direct"),
    [
        ("ctl", "ctl", True),
        (".b.org, x", "a.b.org", True),
        ("*", "ctl", True),
        ("", "ctl", False),
        ("tl", "ctl", False),
    ],
)
def test_no_proxy_names_hosts_and_domains(no_proxy: str, name: str, is_direct: bool) -> None:
    assert text.direct(no_proxy, name) is is_direct


def test_bridges_redirect_by_their_control_bits() -> None:
    shown = (
        "17:00.0 PCI bridge: x\n\t\tACSCap:\tReqRedir+\n\t\tACSCtl:\tSrcValid+ ReqRedir+ CmpltRedir+\n"
        "18:00.0 PCI bridge: x\n\t\tACSCtl:\tSrcValid- ReqRedir- CmpltRedir-\n"
    )
    assert text.acs_bridges(shown) == ["17:00.0"]


def test_the_last_mount_is_in_effect() -> None:
    mounts = (
        "24 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n25 1 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "26 1 0:24 / /proc rw - proc proc rw\n"
    )
    assert text.cgroup_type(mounts) == "cgroup2"
    assert text.cgroup_type("26 1 0:24 / /proc rw - proc proc rw\n") == ""


@pytest.mark.parametrize(
    ("printed", "release"),
    [("slurm-wlm 24.11.5\n", "24.11"), ("Kubernetes v1.36.3\n", "1.36"), ("slurm 25.05.0", "25.05"), ("error", "")],
)
def test_a_release_is_two_numbers(printed: str, release: str) -> None:
    assert text.release(printed) == release

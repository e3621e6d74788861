# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every refusal, by handing the check a machine that lacks one thing."""

import re
from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from lab.hosts import checks, site
from lab.hosts.machine import Machine
from lab.hosts.paths import Paths

GIB = 1 << 30
PLAN = checks.Plan(
    Paths(7, Path("/var/lib/drawbridge-lab"), Path("/var/cache/drawbridge-lab")),
    starting=tuple(site.load(7).select([]).hosts),
)
GOOD = Machine(
    root=True,
    missing=(),
    kernel=(6, 12),
    cgroup2=True,
    overlay=True,
    veth=True,
    state_filesystem="ext4",
    state_free=20 * GIB,
    cache_free=20 * GIB,
    memory_free=8 * GIB,
    addresses={"eth0": (IPv4Interface("192.0.2.2/24"),)},
    routes={"192.0.2.0/24": "eth0"},
    inotify_instances=140,
    inotify_used=10,
    image_cached=False,
    lab_alive=False,
    lab_left=False,
)

REFUSED = {
    "root": ({"root": False}, "run it with sudo"),
    "packages": (
        {"missing": ("iproute2", "mmdebstrap")},
        "lab requirements --install, or apt-get install .* iproute2 mmdebstrap",
    ),
    "kernel": ({"kernel": (5, 10)}, "kernel is 5.10, .* boot Linux 5.14"),
    "cgroup2": ({"cgroup2": False}, "mount -t cgroup2"),
    "overlay": ({"overlay": False}, "load the module overlay"),
    "veth": ({"veth": False}, "load the module veth"),
    "upper": ({"state_filesystem": "overlay"}, "drawbridge-lab is on overlay, .* set LAB_STATE"),
    "state disk": ({"state_free": GIB}, "for 8 hosts takes 2.0 GiB of disk, 1.0 are free: .* LAB_STATE"),
    "cache disk": ({"cache_free": GIB}, "build the image takes 3.0 GiB .* LAB_CACHE"),
    "memory": ({"memory_free": GIB}, "1.0 GiB of memory are free, 8 hosts take 2.0: .* name fewer hosts"),
    "inotify": (
        {"inotify_used": 60},
        "60 of 140 .* in use and 8 hosts take 120 more: run lab requirements --install, or sysctl -w",
    ),
    "own past": ({"lab_left": True}, "run LAB_ID=7 lab/lab down"),
    "foreign address": ({"addresses": {"docker0": (IPv4Interface("10.77.7.1/24"),)}}, "used by docker0: .* LAB_ID=8"),
    "wider address": ({"addresses": {"lan": (IPv4Interface("10.77.0.9/16"),)}}, "used by lan"),
    "foreign route": ({"routes": {"10.77.7.0/25": "tun0"}}, "used by tun0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_each_lack_is_one_sentence_with_a_way_out(case):
    change, sentence = REFUSED[case]
    said = checks.refusals(replace(GOOD, **change), PLAN)
    assert len(said) == 1
    assert re.search(sentence, said[0])
    assert "\n" not in said[0]


def test_a_virtual_machine_takes_its_own_memory():
    plan = replace(PLAN, starting=tuple(site.load(7, site.file_of("isolation")).select([]).hosts))
    assert checks.refusals(replace(GOOD, memory_free=9 * GIB), plan) == []
    assert "5 hosts take 8.5" in checks.refusals(replace(GOOD, memory_free=8 * GIB), plan)[0]


def test_a_good_machine_is_accepted():
    assert checks.refusals(GOOD, PLAN) == []


@pytest.mark.parametrize(
    "change",
    [
        {"lab_left": True, "lab_alive": True},
        {"image_cached": True, "cache_free": 0},
        {"addresses": {"dblab7": (IPv4Interface("10.77.7.1/24"),)}, "routes": {"10.77.7.0/24": "dblab7"}},
        {"routes": {"10.0.0.0/8": "tun0"}},
        {"addresses": {"dblab8": (IPv4Interface("10.77.8.1/24"),)}},
    ],
    ids=["running lab", "image cached", "its own bridge", "a company's wide route", "another lab"],
)
def test_a_harmless_difference_is_not_refused(change):
    assert checks.refusals(replace(GOOD, **change), PLAN) == []


def test_all_lacks_are_reported_at_once():
    said = checks.refusals(replace(GOOD, root=False, kernel=(4, 19), overlay=False), PLAN)
    assert len(said) == 3


def test_missing_cgroup_controllers_are_reported():
    assert list(checks.hybrid(frozenset({"cpu", "memory", "pids"}))) == []
    assert "v1-hybrid" in next(checks.hybrid(frozenset()))

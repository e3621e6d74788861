# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""describe.yml on bare hosts: its output is the shipped intent once its questions are answered.

With an intent it names the planted faults of a host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.emulators.nodes.lldpctl import neighbours
from lab.hosts.paths import REPOSITORY, Paths
from tests.describing import bare, keep, missing, proposed, shipped
from tests.running import Lab, Run

from .test_preflight import BOOTED, DOWN, tool

SHIPPED = REPOSITORY / "inventories/lab"
HOST, CONTROLLER, SPINE = "gpu01", "ctl", "spine"
BY_CHOICE = {"route_table", "read_request_bytes", "local_interrupts", "gbps"}
"""What the site wants of its ports, which no port tells."""
PCI = "/sys/bus/pci/devices"
PLANTED = {
    "cable": tool("lldpctl", json.dumps(neighbours({"rail2": ["leaf2", "Ethernet7"]}))),
    "gpu": f"mount -t tmpfs none {PCI} && mkdir {PCI}/0000:1b:00.0 && echo 1 > {PCI}/0000:1b:00.0/numa_node",
    "rdma": "cd /sys/class/net/rail5/device && mount -t tmpfs none infiniband && mkdir infiniband/rocep5s0",
}
MENDED = f"rm -f /usr/local/bin/lldpctl; umount {PCI}; umount /sys/class/net/rail5/device/infiniband"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare(SHIPPED, tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def described(hosts: Path) -> tuple[Run, Path]:
    """What a run wrote, which had no intent."""
    folder = hosts / "described"
    return Lab(Paths.of(), (str(hosts),)).playbook("describe", "-e", f"describe_into={folder}"), folder


@pytest.fixture(scope="module")
def intent(hosts: Path, described: tuple[Run, Path]) -> dict[str, Any]:
    """The described intent with answers, and with the spine, which no host sees. The hosts' inventory gets it."""
    wanted = shipped(SHIPPED)
    found = proposed(described[1], wanted)
    spines = [switch for switch in wanted["drawbridge_fabric"]["switches"] if switch["tier"] == SPINE]
    found["drawbridge_fabric"]["switches"] += spines
    keep(hosts, found)
    return found


def test_hosts_that_gave_no_answer_and_missing_tools_are_named(described: tuple[Run, Path]) -> None:
    run, folder = described
    assert run.changed() == [f"{CONTROLLER}: Write an intent, or compare hosts with the one that exists"]
    told = (folder / "hosts.yml").read_text()
    assert f"# {DOWN} gave no answer: " in told
    assert "# nsd1: LLDP neighbours: lldpctl is not installed on this host" in told


def test_with_its_questions_answered_it_is_the_shipped_intent(intent: dict[str, Any]) -> None:
    fabric, wanted = intent["drawbridge_fabric"], shipped(SHIPPED)
    # the shipped one leaves cables to Drawbridge's own rule
    others = {**intent, "drawbridge_fabric": {key: value for key, value in fabric.items() if key != "cabling"}}
    assert list(missing(others, wanted)) == []
    assert [entry["switches"] for entry in fabric["cabling"]["nodes"]] == ["leaf1", "leaf2"]
    assert intent["drawbridge_nodes"]["ranges"] == wanted["drawbridge_nodes"]["ranges"]
    build, other = (part["drawbridge_nodes"]["classes"]["h100"] for part in (intent, wanted))
    assert build.keys() == other.keys()
    assert build["nics"][0].keys() == other["nics"][0].keys() - BY_CHOICE


def test_the_check_accepts_it(hosts: Path, intent: dict[str, Any]) -> None:
    assert intent
    done = Lab(Paths.of(), (str(hosts),)).playbook("check")
    assert done.code == 0, done.output


@pytest.fixture
def faults() -> Iterator[None]:
    lab = Lab(Paths.of())
    try:
        for command in PLANTED.values():
            lab.ssh(HOST, command)
        yield
    finally:
        lab.ssh(HOST, MENDED, check=False)


def compared() -> Run:
    return Lab(Paths.of()).playbook("describe", "--limit", BOOTED)


def test_sound_hosts_do_not_differ_from_the_intent() -> None:
    done = compared()
    assert done.code == 0, done.output
    assert "no difference between hosts and intent" in str(done.results())


def test_a_wrong_cable_a_gpu_elsewhere_and_a_renamed_device_are_named(faults: None) -> None:
    done = compared()
    assert done.code == 2
    [result] = [result for _, _, result in done.results() if result.get("failed")]
    key = "drawbridge_nodes.classes.h100"
    assert {line.partition(";")[0] for line in result["differences"]} == {
        f"{HOST}: cable of rail2 is leaf1, but the host has leaf2 Ethernet7",
        f"{HOST}: {key}.gpus.numa[0] is 0, but the host has 1 (GPU at 0000:1b:00.0)",
        f"{HOST}: {key}.nics.rdma of rail5 is mlx5_5, but the host has rocep5s0",
    }

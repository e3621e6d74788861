# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cluster as its commands show it, after converge and a second run."""

from __future__ import annotations

import json

import pytest
from testinfra.host import Host

from lab.hosts.paths import Paths

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://nsd1?ssh_config={SSH_CONFIG}&timeout=60"]

MM = "/usr/lpp/mmfs/bin"
NODES = ("gpu01", "gpu02")


@pytest.fixture
def nodes() -> list[Host]:
    return [Host.get_host(f"ssh://{name}", ssh_config=str(SSH_CONFIG), timeout=60) for name in NODES]


def written(host: Host) -> list[str]:
    journal = host.check_output("cat /var/lib/lab/gpfs/journal.jsonl").splitlines()
    return [call["tool"] for call in map(json.loads, journal) if call["writes"]]


def test_both_nodes_are_clients_with_a_licence_and_run(host: Host) -> None:
    members = [line.split(":") for line in host.check_output(f"{MM}/mmlscluster -Y").splitlines()]
    assert [row[10] for row in members if row[1] == "clusterNode" and row[7] in NODES] == ["", ""]
    licenses = [line.split(":") for line in host.check_output(f"{MM}/mmlslicense -L -Y").splitlines()]
    assert [row[8] for row in licenses if row[6] in NODES] == ["client", "client"]
    states = [line.split(":") for line in host.check_output(f"{MM}/mmgetstate -a -Y").splitlines()]
    assert [row[8] for row in states if row[6] in NODES] == ["active", "active"]


def test_they_joined_in_one_batch_and_the_second_run_wrote_nothing(host: Host, nodes: list[Host]) -> None:
    assert written(host) == ["mmaddnode", "mmchlicense"]
    assert [written(node) for node in nodes] == [["mmstartup", "mmmount"], ["mmstartup", "mmmount"]]


def test_no_node_file_is_left(host: Host) -> None:
    assert host.check_output("ls /var/lib/drawbridge/gpfs") == ""


def test_what_one_node_writes_the_other_reads(nodes: list[Host]) -> None:
    first, second = nodes
    first.check_output("printf lowered > /gpfs/fs1/bridge")
    assert second.check_output("cat /gpfs/fs1/bridge") == "lowered"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A rail-optimised site: all parts agree from topology to NIC, a job runs, and two nodes come to their own ports.

The tests build on each other in their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import demo
from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab

OWN = REPOSITORY / "molecule/rails/inventory"
UNIT = {f"leaf{number}" for number in range(1, 9)}
STORES = {"store1", "store2"}
SWITCHES = [*sorted(UNIT), "leaf9", "leaf10", "spine1", "spine2", *sorted(STORES)]
RAILS = [f"rail{number}" for number in range(8)]


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), ("inventories/lab", str(OWN)))


def ports(lab: Lab, switch: str) -> dict[str, str]:
    """Sections of a switch's running configuration by their first lines."""
    text = lab.ssh(switch, "show running-config")
    return {section.splitlines()[0]: section for section in text.split("\n!\n") if section}


def test_a_second_run_changes_nothing(lab: Lab) -> None:
    run = lab.playbook("site")
    assert run.code == 0, run.output
    assert (run.changed(), run.steps()) == ([], {})


def test_slurm_knows_the_units(lab: Lab) -> None:
    told = [line.split() for line in lab.ssh("ctl", "scontrol show topology").splitlines()]
    found = {(words[0], words[3]) for words in told if words[1] == "Level=0"}
    assert found == {("SwitchName=leaf1-8", "Nodes=gpu[01-02]"), ("SwitchName=leaf9-10", "Nodes=gpu[03-04]")}


@pytest.mark.parametrize("node", ["gpu01", "gpu04"])
def test_nccl_uses_the_rails_alone(lab: Lab, node: str) -> None:
    lines = lab.ssh(node, "cat /etc/nccl.conf").splitlines()
    assert "NCCL_IB_HCA==" + ",".join(f"mlx5_{number}" for number in range(8)) in lines


@pytest.mark.parametrize(("port", "paused"), [("rail0", "1"), ("rail7", "1"), ("stor0", "0"), ("stor1", "0")])
def test_a_port_pauses_what_its_class_of_traffic_needs(lab: Lab, port: str, paused: str) -> None:
    """GPU traffic is lossless, storage traffic has a priority of its own that nothing pauses."""
    report = lab.ssh("gpu03", f"mlnx_qos -i {port}").splitlines()
    assert "Priority trust state: dscp" in report
    assert f"\tenabled     0   0   0   {paused}   0   0   0   0   " in report
    mapped = {line.split()[0]: line.split(":")[-1].split(",") for line in report if line.startswith("\tprio:")}
    assert "34" in mapped["prio:4"]


@pytest.mark.parametrize("switch", ["leaf1", "leaf10", "spine2", "store1"])
def test_switches_queue_both_classes(lab: Lab, switch: str) -> None:
    found = ports(lab, switch)
    assert "priority-flow-control priority 3 no-drop" in found["qos profile ROCE"]
    assert lab.ssh(switch, "show running-config").count("bandwidth percent 30") == 1


def test_a_job_runs_through_the_gate(lab: Lab) -> None:
    job = demo.submit(lab.paths)
    assert lab.booked(job) == ["COMPLETED", "0:0"]


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The inventory with two nodes more in the first unit."""
    folder = tmp_path_factory.mktemp("more")
    intent = yaml.safe_load((OWN / "group_vars/all/rails.yml").read_text())
    intent["drawbridge_nodes"]["ranges"][0]["names"] = "gpu[01-02,05-06]"
    leaves, _, _, stores = intent["drawbridge_fabric"]["switches"]
    leaves["ports"], stores["ports"] = "Ethernet1-4,Ethernet9-10", "Ethernet1-6"
    cables = intent["drawbridge_fabric"]["cabling"]["nodes"]
    cables += [
        {"switches": "leaf[1-8]", "ports": "Ethernet3-4", "nodes": "gpu[05-06]"},
        {"switches": "store[1-2]", "ports": "Ethernet5-6", "nodes": "gpu[05-06]", "purpose": "storage"},
    ]
    slurm = yaml.safe_load((REPOSITORY / "inventories/lab/group_vars/all/slurm.yml").read_text())
    for partition in slurm["drawbridge_slurm"]["partitions"]:
        partition["nodes"] = "gpu[01-06]"
    hosts = {"gpu05": {"lab_address": 25}, "gpu06": {"lab_address": 26}}
    inventory = {"all": {"children": {"nodes": {"children": {"gpu": {"hosts": hosts}}}}}}
    (folder / "group_vars").mkdir()
    (folder / "hosts.yml").write_text(json.dumps(inventory))
    (folder / "group_vars/all.yml").write_text(json.dumps({**intent, **slurm}))
    yield folder


def test_two_nodes_touch_their_own_ports_alone(lab: Lab, more: Path) -> None:
    demo.step("Boot two spares", ["lab/lab", "up", "gpu05", "gpu06"])
    before = {switch: ports(lab, switch) for switch in SWITCHES}
    known = {file: len(calls) for file, calls in lab.journals().items()}
    run = lab.playbook("onboard", "-i", str(more), "-e", "onboard_nodes=gpu[05-06]")
    assert run.code == 0, run.output
    noted = {Path(file).parent.name: calls for file, calls in lab.journals(known).items() if "/switches/" in file}
    contacted = {name for name, calls in noted.items() if any(call.get("event") == "connect" for call in calls)}
    assert contacted == UNIT | STORES
    after = {switch: ports(lab, switch) for switch in SWITCHES}
    differ = {
        switch: {
            name
            for name in before[switch].keys() | after[switch]
            if before[switch].get(name) != after[switch].get(name)
        }
        for switch in SWITCHES
    }
    own = {**dict.fromkeys(UNIT, (3, 4)), **dict.fromkeys(STORES, (5, 6))}
    wanted = {switch: {f"interface Ethernet{port}" for port in own.get(switch, ())} for switch in SWITCHES}
    assert differ == wanted


def test_the_site_knows_the_new_nodes(lab: Lab, more: Path) -> None:
    run = lab.playbook("site", "-i", str(more))
    assert run.code == 0, run.output
    assert (run.changed(), run.steps()) == ([], {})
    words = "srun -p hpc -N2 -w gpu[05-06] --gres=gpu:8 -D /tmp sh -c 'echo $SLURMD_NODENAME'"
    assert sorted(lab.ssh("login1", f"runuser -u ada -- {words}").split()) == ["gpu05", "gpu06"]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
import re
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_view import folder
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import checked

from tests.unit.module_utils.site.test_refused import site

NUMA = [0, 0, 0, 0, 1, 1, 1, 1]
CPUS = {
    **{"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2, "numa_nodes": 2, "cpu_numbering": "together"},
    **{"numa_without_cpus": "", "numa_without_memory": "", "l3_caches": 0},
}
GROUPS = {"controllers": ["ctl"], "nodes": ["gpu01", "gpu02", "gpu03", "gpu04"], "storage_admins": ["nsd1"]}
QUESTION = re.compile(r"^( *(?:- )?)# QUESTION: (\w+): .+$", re.MULTILINE)
ANSWERS = {
    "reserved_cpus": "0-3,64-67",
    "reserved_memory_mib": 12288,
    "roce": {
        "priority": 3,
        "dscp": 26,
        "bandwidth_percent": 50,
        "ecn_min_bytes": 150000,
        "ecn_max_bytes": 1500000,
        "ecn_probability_percent": 100,
    },
    "host_mtu_bytes": 9000,
    "platform": "eos",
    "asic": "xgs",
    "ports": "Ethernet1-20",
    "cluster": "lab",
    "partitions": [{"name": "hpc", "nodes": "gpu[01-04]", "gate": False}],
    "gate": False,
    "numa": NUMA,
}


def other() -> dict[str, Any]:
    """Facts of a host without devices."""
    lists: dict[str, Any] = {name: [] for name in ("gpus", "nics", "mounts", "missing")}
    return {**lists, "os": "debian-13", "cpus": CPUS, "memory_mib": 8192, "neighbours": {}, "slurm": {}, "kubelet": {}}


def lab_node(leaf: str, first: int) -> dict[str, Any]:
    """Facts of a node of the lab, whose rails use ports from this one on."""
    rdma = [(f"rail{n}", f"mlx5_{n}") for n in range(8)]
    nics = [
        {"netdev": name, "rdma": device, "numa": NUMA[n], "device": "15b3:1021", "pci": f"0000:{n}8:00.0", "mtu": 1500}
        for n, (name, device) in enumerate(rdma)
    ]
    h100 = {"name": "NVIDIA H100 80GB HBM3", "vendor": "nvidia"}
    gpus = [{**h100, "pci": f"0000:{n}b:00.0", "numa": NUMA[n], "minor": n} for n in range(8)]
    near = {name: [leaf, f"Ethernet{first + n}"] for n, (name, _) in enumerate(rdma)}
    return {**other(), "memory_mib": 2064384, "gpus": gpus, "nics": nics, "neighbours": near}


GPUS = lab_node("leaf1", 1)["gpus"]


def lab_hosts() -> dict[str, Any]:
    cabled = {"gpu01": ("leaf1", 1), "gpu02": ("leaf1", 9), "gpu03": ("leaf2", 1), "gpu04": ("leaf2", 9)}
    return {"ctl": other(), **{name: lab_node(*end) for name, end in cabled.items()}}


def answered(text: str, more: Any = MappingProxyType({})) -> dict[str, Any]:
    """The text with answers in place of its questions; a question without an answer is left out."""
    answers = {**ANSWERS, **more}

    def answer(match: re.Match[str]) -> str:
        key = match.group(2)
        return f"{match.group(1)}{key}: {json.dumps(answers[key])}" if key in answers else ""

    return yaml.safe_load(QUESTION.sub(answer, text)) or {}


def intent(files: dict[str, str], more: Any = MappingProxyType({})) -> dict[str, Any]:
    parts = [answered(text, more) for path, text in files.items() if path.startswith("group_vars")]
    return {key: value for part in parts for key, value in part.items()}


def test_the_labs_intent_is_the_shipped_one_where_it_must_and_is_accepted_with_its_inventory() -> None:
    files, shipped = folder(lab_hosts(), GROUPS, {}), site("lab")
    found = intent(files)
    (rails,) = shipped["drawbridge_nodes"]["classes"]["h100"]["nics"]
    for decision in (
        "route_table",
        "read_request_bytes",
        "local_interrupts",
        "gbps",
    ):  # the site's, which no host shows
        del rails[decision]
    del shipped["drawbridge_nodes"]["classes"]["h100"]["gpus"]["product"]
    assert found["drawbridge_nodes"] == shipped["drawbridge_nodes"]
    assert found["drawbridge_fabric"]["roce"] == shipped["drawbridge_fabric"]["roce"]
    assert found["drawbridge_fabric"]["switches"][0] == shipped["drawbridge_fabric"]["switches"][0]
    assert found["drawbridge_fabric"]["cabling"]["nodes"] == [
        {"switches": "leaf1", "ports": "Ethernet1-16", "nodes": "gpu[01-02]"},
        {"switches": "leaf2", "ports": "Ethernet1-16", "nodes": "gpu[03-04]"},
    ]
    tree = yaml.safe_load(files["hosts.yml"])["all"]["children"]
    groups = {name: list(group["hosts"]) for name, group in tree.items() if name != "storage_admins"}
    assert groups["switches"] == ["leaf1", "leaf2"]
    assert checked(found, groups)[1] == []


def test_unknown_facts_of_hosts_are_questions() -> None:
    hosts = lab_hosts()
    for name in GROUPS["nodes"]:
        hosts[name] = copy.deepcopy(hosts[name])
        hosts[name]["neighbours"] = {}
        hosts[name]["gpus"][0]["numa"] = -1
    assert {"numa", "leaves", "switches", "reserved_cpus", "cluster", "roce"} <= asked(hosts)


def asked(hosts: dict[str, Any]) -> set[str]:
    """Keys of questions."""
    return {match.group(2) for text in folder(hosts, GROUPS, {}).values() for match in QUESTION.finditer(text)}


def test_rails_that_are_on_two_leaves_in_turn_are_questions() -> None:
    """The intent has groups of rails on each leaf. The check can't know that the cables differ."""
    hosts = lab_hosts()
    assert not {"leaves", "cabling"} & asked(hosts)
    hosts["gpu01"]["neighbours"] = {f"rail{at}": [f"leaf{at % 2 + 1}", f"Ethernet{at + 1}"] for at in range(8)}
    assert {"leaves", "cabling"} <= asked(hosts)


@pytest.mark.parametrize(
    ("memory_mib", "classes"), [(1032192, {"h100": 2064384, "h100-2": 1032192}), (2064380, {"h100": 2064380})]
)
def test_other_hardware_is_another_class_but_not_a_few_mib(memory_mib: int, classes: dict[str, int]) -> None:
    hosts = lab_hosts()
    hosts["gpu04"] = {**hosts["gpu04"], "memory_mib": memory_mib}
    found = intent(folder(hosts, GROUPS, {}))["drawbridge_nodes"]["classes"]
    assert {name: one["memory_mib"] for name, one in found.items()} == classes


def test_people_decide_between_models_and_types_of_a_live_slurm_stay() -> None:
    hosts = lab_hosts()
    hosts["ctl"]["slurm"] = {"cluster": "c", "gpu_types": [{"nodes": "gpu[01-03]", "type": "hopper"}]}
    hosts["gpu04"]["gpus"] = [{**gpu, "name": gpu["name"] if at else "NVIDIA T400"} for at, gpu in enumerate(GPUS)]
    text = folder(hosts, GROUPS, {})["group_vars/all/nodes.yml"]
    assert '        type: "hopper"\n' in text
    assert "# QUESTION: type: the models differ: 1 NVIDIA T400 (t400), 7 NVIDIA H100 80GB HBM3 (h100); " in text
    assert f"# QUESTION: numa: of the GPUs of this type alone, in their order, of {NUMA}" in text
    assert "# QUESTION: minors: of the GPUs of this type alone, in their order, of [0, 1, 2, 3, 4, 5, 6, 7]" in text
    assert "# QUESTION: others: number of GPUs of the other types" in text


def test_instances_of_gpus_are_proposed_with_the_product_that_they_need() -> None:
    """Nodes with others are another class."""
    hosts = lab_hosts()
    layouts = [{}, *[{"3g.40gb": 2}] * 7]
    hosts["gpu04"]["gpus"] = [{**gpu, "instances": layout} for gpu, layout in zip(GPUS, layouts)]
    whole, divided = intent(folder(hosts, GROUPS, {}))["drawbridge_nodes"]["classes"].values()
    assert "mig" not in whole["gpus"]
    assert divided["gpus"]["product"] == "NVIDIA H100 80GB HBM3"
    assert divided["gpus"]["mig"] == {"layout": {"3g.40gb": 2}, "exceptions": [{"gpus": [0], "layout": {}}]}


def test_a_running_cluster_is_taken_over() -> None:
    hosts = lab_hosts()
    parts = [{"name": "train", "nodes": "ALL", "default": True}, {"name": "hpc", "nodes": "gpu01", "default": False}]
    hosts["ctl"]["slurm"] = {"cluster": "research", "controller": "ctl", "accounting": "db1", "partitions": parts}
    hosts["gpu01"]["mounts"] = [{"source": "fs1", "mount": "/gpfs/fs1", "type": "gpfs"}]
    hosts["gpu01"]["kubelet"] = {"api_server": "https://10.0.0.1:6443", "ca_file": "/etc/kubernetes/pki/ca.crt"}
    text = folder(hosts, GROUPS, {})
    found = intent(text)
    assert found["drawbridge_slurm"]["cluster"] == "research"
    assert found["drawbridge_slurm"]["accounting"] == {"host": "db1"}
    assert found["drawbridge_slurm"]["partitions"][0] == {
        "name": "train",
        "nodes": "gpu[01-04]",
        "default": True,
        "gate": False,
    }
    assert found["drawbridge_gpfs"]["filesystems"] == [{"device": "fs1", "mount": "/gpfs/fs1"}]
    kube = yaml.safe_load(text["group_vars/all/kube.yml"])["drawbridge_kube"]
    assert kube == {"api_server": "https://10.0.0.1:6443", "ca_file": "/etc/kubernetes/pki/ca.crt", "join": "site"}
    assert "# QUESTION: infra: " in text["group_vars/all/kube.yml"]
    assert yaml.safe_load(text["hosts.yml"])["all"]["children"]["accounting"]["hosts"] == {"db1": None}


def test_text_of_a_host_in_other_hands_is_not_taken() -> None:
    """The tests in core/test_question.py try unsafe texts; this test shows that each text is checked."""
    hosts, evil = lab_hosts(), "{{lookup('pipe','id')}}"
    part = {"name": evil, "nodes": evil, "default": True}
    hosts["ctl"]["slurm"] = {"cluster": evil, "controller": evil, "accounting": evil, "partitions": [part]}
    kubelet = dict.fromkeys(("api_server", "ca_file", "reserved_cpus", "topology_policy"), evil)
    hosts["gpu01"] |= {"os": evil, "kubelet": kubelet, "neighbours": {"rail0": [evil, evil], evil: ["leaf1", "1"]}}
    hosts["gpu01"]["mounts"] = [{"source": evil, "mount": evil, "type": evil}]
    hosts["gpu01"]["cpus"] = {**CPUS, evil: evil}
    hosts["gpu01"]["gpus"][0]["name"] = evil
    hosts["gpu01"]["nics"][0] |= {"netdev": evil, "rdma": evil, "device": evil}
    assert evil not in "".join(folder(hosts, GROUPS, {}).values())


@pytest.mark.parametrize("reason", ["Connection timed out", "two\nlines: [evil"])
def test_hosts_without_an_answer_are_named(reason: str) -> None:
    hosts = lab_hosts()
    del hosts["gpu02"]
    text = folder(hosts, GROUPS, {"gpu02": reason})["hosts.yml"]
    assert f"# gpu02 gave no answer: {' '.join(reason.split())}" in text
    assert "gpu02" in yaml.safe_load(text)["all"]["children"]["nodes"]["hosts"]

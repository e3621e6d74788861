# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever hosts have: with its questions answered, the check accepts the proposal."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import RAILS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_difference import (
    differences,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_text import slurm_conf
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_view import folder
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import checked, load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent

from tests.unit.module_utils.machine_facts import ALL, facts
from tests.unit.module_utils.machines import intent as intent_of
from tests.unit.module_utils.site.test_describe_view import GROUPS, QUESTION, intent, lab_hosts, other
from tests.unit.module_utils.site.test_refused import ROOT, site

Hosts = dict[str, Any]
CONF = "ClusterName=demo\nSlurmctldHost=ctl\nNodeName=gpu[01-04] Gres=gpu:h100:8\n"
KUBELET = {"api_server": "https://10.0.0.1:6443", "ca_file": "/etc/kubernetes/pki/ca.crt"}
VALUES = {
    "packages": "site",
    "names": "leaf1",
    "name": "a",
    "ports": "Ethernet1-640",
    "infra": "infra1",
    "gpu_operator": {"install": False},
    "rdma": {"install": False},
    "database": {"server": "site", "host": "db1"},
}


def live(lines: str) -> Callable[[Hosts], None]:
    def change(hosts: Hosts) -> None:
        hosts["ctl"].update(slurm=slurm_conf(lines))

    return change


def nodes(**facts: Any) -> Callable[[Hosts], None]:
    def change(hosts: Hosts) -> None:
        for name in GROUPS["nodes"]:
            hosts[name].update(copy.deepcopy(facts))

    return change


def gpus(*names: str) -> Callable[[Hosts], None]:
    def change(hosts: Hosts) -> None:
        for name in GROUPS["nodes"]:
            for at, product in enumerate(names):
                hosts[name]["gpus"][at]["name"] = product

    return change


def wired(*near: list[str]) -> Callable[[Hosts], None]:
    def change(hosts: Hosts) -> None:
        for name in GROUPS["nodes"]:
            hosts[name]["neighbours"] = {f"rail{at}": near[at % len(near)] for at in range(8)}

    return change


ODD = {
    "other_system": nodes(os="ubuntu-20.04"),
    "system_of_others": nodes(os="ubuntu-22.04"),
    "no_cpus": nodes(cpus={}, memory_mib=0),
    "one_socket": nodes(cpus={**other()["cpus"], "sockets": 1, "numa_nodes": 2}),
    "numa_nodes_that_are_not_there": nodes(cpus={**other()["cpus"], "numa_nodes": 1}),
    "numa_nodes_of_unequal_size": nodes(cpus={**other()["cpus"], "numa_nodes": 3}),
    "no_nics": nodes(nics=[], neighbours={}),
    "no_gpus": nodes(gpus=[]),
    "gpus_without_names": gpus(*[""] * 8),
    "gpus_of_two_models": gpus("NVIDIA TITAN Xp", "NVIDIA GeForce GTX 1080 Ti"),
    "a_gpu_for_a_display": gpus("NVIDIA T400 4GB"),
    "types_alike": gpus("NVIDIA A100-SXM4-40GB", *["NVIDIA A100-SXM4-80GB"] * 7),
    "rails_in_turn": wired(["leaf1", "Ethernet1"], ["leaf2", "Ethernet2"]),
    "ports_twice": wired(["leaf1", "Ethernet1"]),
    "ports_without_names": wired(["leaf1.example.org", "aa:bb:cc:dd:ee:ff"]),
    "switch_without_a_port": wired(["leaf1", ""]),
    "a_rail_without_a_neighbour": lambda hosts: hosts["gpu01"]["neighbours"].pop("rail3") and None,
    "nics_of_two_kinds": lambda hosts: hosts["gpu01"]["nics"][0].update(device="15b3:a2dc"),
    "names_of_switches": wired(["rack/1:leaf", "Ethernet1"]),
    "half_cores_for_the_kubelet": nodes(kubelet={**KUBELET, "reserved_cpus": "0-2"}),
    "all_cores_for_the_kubelet": nodes(kubelet={**KUBELET, "reserved_cpus": "0-127"}),
    "cores_that_are_not_there": nodes(kubelet={**KUBELET, "reserved_cpus": "0,200"}),
    "a_load_balancer_on_each_node": nodes(kubelet={"local_server": "https://localhost:6443"}),
    "a_path_with_blanks": nodes(kubelet={**KUBELET, "ca_file": "/etc/my ca.crt"}),
    "names_in_capitals": live(CONF.replace("demo", "Demo").replace("=ctl", "=CTL.example.org(10.0.0.1)")),
    "a_name_with_a_dot": live(CONF.replace("demo", "de.mo")),
    "another_controller": live(CONF.replace("=ctl", "=head,head2")),
    "the_controller_itself": live(CONF.replace("=ctl", "=localhost")),
    "a_database_elsewhere": live(f"{CONF}AccountingStorageHost=db1\n"),
    "two_defaults": live(f"{CONF}PartitionName=a Nodes=ALL Default=YES\nPartitionName=b Nodes=gpu01 Default=YES\n"),
    "sets_of_nodes": live(f"{CONF}NodeSet=s Nodes=gpu[01-02]\nPartitionName=a Nodes=s\n"),
    "nodes_of_others": live(f"{CONF}NodeName=n[1-9]\nPartitionName=a Nodes=ALL\nPartitionName=b Nodes=n1\n"),
    "no_nodes": live(f"{CONF}NodeSet=s Feature=x\nPartitionName=a Nodes=s\nPartitionName=b\n"),
    "functions_of_nodes": live(f"{CONF}PartitionName=a Nodes=block{{gpu01}}\n"),
    "a_partition_with_a_slash": live(f"{CONF}PartitionName=a/b Nodes=ALL\n"),
    "types_in_capitals": live(CONF.replace("h100", "H100")),
    "a_type_with_a_plus": live(CONF.replace("h100", "h100+x")),
    "one_file_system_twice": nodes(mounts=[{"source": "fs1", "mount": f"/gpfs/{at}", "type": "gpfs"} for at in "ab"]),
    "a_mount_with_blanks": nodes(mounts=[{"source": "fs1", "mount": "/gpfs/my fs", "type": "gpfs"}]),
    "nfs": nodes(mounts=[{"source": "filer:/a", "mount": "/a", "type": "nfs4"}]),
}


def faults(hosts: Hosts, groups: Any) -> list[str]:
    """What the check says of a proposal, except for keys of which it has a question without an answer here."""
    files = folder(hosts, groups, {})
    asked = {match.group(2) for text in files.values() for match in QUESTION.finditer(text)}
    # a person who answers with a name also puts it into the group
    asked |= {"switches", "group switches"} if "names" in asked else set()
    asked |= {"nodes"} if "      # add " in files.get("group_vars/all/fabric.yml", "") else set()
    proposed = yaml.safe_load(files["hosts.yml"])["all"]["children"]
    inventory = {name: list(group["hosts"]) for name, group in proposed.items()}
    partition = {"name": "all", "nodes": ",".join(groups["nodes"])}
    _intent, found = checked(intent(files, {**VALUES, "partitions": [partition]}), inventory)
    return [str(fault) for fault in found if fault.key.rpartition(".")[2].partition("[")[0] not in asked]


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_the_check_accepts_a_proposal_for_odd_hosts(change: Callable[[Hosts], None]) -> None:
    hosts = lab_hosts()
    change(hosts)
    assert faults(hosts, {**GROUPS, "storage_admins": []}) == []


@pytest.mark.parametrize("name", ALL)
def test_a_machine_is_proposed_as_it_is_and_does_not_differ_then(name: str) -> None:
    """A machine that no node class describes is a question, with the reason beside the host's name."""
    found = {"gpu01": {**other(), **facts(name), "missing": []}}
    files = folder({"ctl": other(), **found}, {"controllers": ["ctl"], "nodes": ["gpu01"]}, {})
    ((_name, proposed),) = yaml.safe_load(files["group_vars/all/nodes.yml"])["drawbridge_nodes"]["classes"].items()
    if ALL[name].refused:
        assert not set(proposed or {}) & set(ALL["gh200"].described)
        return
    known = {key: value for key, value in ALL[name].described.items() if value != 0}
    assert {key: value for key, value in proposed.items() if key in known or key.startswith(("numa_", "l3"))} == known
    assert list(proposed.get("gpus", {}).get("minors", [])) == list(ALL[name].minors)
    site = intent_of(ALL[name])
    site = replace(site, nodes=replace(site.nodes, ranges=(replace(site.nodes.ranges[0], names="gpu01"),)))
    assert differences(site, found) == []


def hosts_of(built: Intent) -> Hosts:
    """Facts of the hosts of an intent."""
    found: Hosts = {built.slurm.controller: other()}
    used: Counter[str] = Counter()
    for name, part in built.nodes.by_name.items():
        build = built.nodes.class_at(part)
        facts = found[name] = {**other(), "os": built.nodes.os, "memory_mib": build.memory_mib}
        facts["cpus"] = {key: getattr(build, key) for key in other()["cpus"]}
        made_by = {"name": f"NVIDIA {build.gpus.type.upper()}", "vendor": build.gpus.vendor}
        facts["gpus"] = [
            {**made_by, "pci": f"0000:{at:02x}:00.0", "numa": numa, "minor": build.gpus.numbers[at]}
            for at, numa in enumerate(build.gpus.numa)
        ]
        rails = build.nics_for(RAILS)
        ends = zip(rails.netdevs, rails.rdma_devices, rails.numa) if rails else ()
        for at, (netdev, rdma, numa) in enumerate(ends):
            facts["nics"].append({"netdev": netdev, "rdma": rdma, "numa": numa, "device": "", "mtu": 9000})
            if part.leaf_names:
                leaf = part.port_leaves(rails)[at]
                used[leaf] += 1
                facts["neighbours"][netdev] = [leaf, f"Ethernet{used[leaf]}"]
    return found


SITES = sorted(path.name for path in (ROOT / "inventories").iterdir())


@pytest.mark.parametrize("name", SITES)
def test_the_check_accepts_a_proposal_for_each_site(name: str) -> None:
    built = load(site(name))
    groups = {"controllers": [built.slurm.controller], "nodes": list(built.nodes.by_name)}
    assert faults(hosts_of(built), groups) == []

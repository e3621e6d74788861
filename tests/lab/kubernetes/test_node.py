# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node has before Drawbridge arrives."""

import json
import tomllib

import yaml

from lab.kubernetes import node
from lab.machine.hardware import Hardware

SERVER = Hardware(2, 32, 2, 2113929216, 2, "h100", (0, 0, 0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1, 1, 1))


def test_the_kubelet_starts_without_what_drawbridge_brings():
    config = yaml.safe_load(node.kubelet_config())
    ours = {"registerWithTaints", "topologyManagerPolicy", "cpuManagerPolicy", "memoryManagerPolicy", "reservedMemory"}
    assert not ours & set(config)
    assert config["authorization"] == {"mode": "Webhook"}


def test_gpus_have_numa_nodes_and_rails_have_none():
    resources = {entry["name"]: entry["devices"] for entry in json.loads(node.devices(SERVER))["resources"]}
    assert [gpu["numa"] for gpu in resources["nvidia.com/gpu"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert sorted(set(resources) - {"nvidia.com/gpu"}) == [f"rdma/rail{rail}" for rail in range(8)]
    assert all(share.keys() == {"id"} for share in resources["rdma/rail7"])


def test_a_machine_without_rails_offers_no_empty_resource():
    names = [
        entry["name"] for entry in json.loads(node.devices(Hardware(1, 4, 1, 8 << 20, 1, "h100", (0,))))["resources"]
    ]
    assert names == ["nvidia.com/gpu"]


def test_containerd_configuration_is_toml():
    plugins = tomllib.loads(node.CONTAINERD)["plugins"]
    assert plugins["io.containerd.cri.v1.images"]["snapshotter"] == "native"
    assert plugins["io.containerd.cri.v1.runtime"]["cni"]["bin_dirs"] == ["/usr/lib/cni"]


def test_each_host_has_its_own_pod_network():
    bridge = json.loads(node.cni(21))["plugins"][0]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.244.21.0/24"}]]

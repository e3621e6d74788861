# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import preflight

from tests.unit.module_utils.site.test_refused import site


def view(name: str, **changes: Any) -> dict[str, Any]:
    intent = load({**site("lab"), **changes})
    return preflight(intent.fabric, intent.nodes, intent.slurm, intent.filesystems, intent.kube, name)


def ends(found: dict[str, Any]) -> list[tuple[str, int, bool]]:
    return [(one["host"], one["port"], one["open"]) for one in found["ports"]]


def test_a_node_reaches_controller_neighbour_and_servers() -> None:
    found = view("gpu01")
    assert ends(found) == [("ctl", 6817, False), ("gpu02", 6818, False), ("nsd1", 1191, False), ("ctl", 6443, True)]
    assert found["paths"] == ["ctl", "gpu02", "nsd1"]
    assert found["names"] == ["gpu01", "ctl", "gpu02", "nsd1"]
    assert (found["listens"], found["kubelet_releases"]) == ([6818, 1191, 10250], ["1.36"])
    assert found["users"] == ["slurm", "munge", *found["accounts"]] == ["slurm", "munge", "ada", "ben", "cleo", "dan"]
    assert view("gpu04")["paths"] == ["ctl", "gpu03", "nsd1"], "the first is next to the last"
    assert view("nsd1")["accounts"] == [], "users of accounts must exist where jobs run"


def test_the_controller_reaches_all_nodes_and_has_no_hardware() -> None:
    found = view("ctl")
    assert [host for host, _, _ in ends(found)] == ["gpu01", "gpu02", "gpu03", "gpu04", "ctl"]
    assert (found["node"], found["gpus"], found["netdevs"], found["cables"]) == (False, 0, [], {})
    assert found["listens"] == [6817, 6819]
    assert found["paths"] == ["gpu01"]


def test_hardware_is_that_of_the_node_class() -> None:
    found = view("gpu03")
    assert (found["class"], found["gpus"], len(found["netdevs"]), len(found["rdma"])) == ("h100", 8, 8, 8)
    assert found["cables"]["rail7"] == ("leaf2", "")
    node = ProofNode.from_dict(found["state"])
    assert (node.name, node.gpus, node.rails[7].netdev, node.priority) == ("gpu03", 8, "rail7", 3)
    assert view("ctl")["state"] == {}


def test_a_site_without_network_and_kubernetes_needs_less() -> None:
    whole = load(site("lab"))
    found = preflight(None, whole.nodes, whole.slurm, {}, None, "gpu01")
    assert ends(found) == [("ctl", 6817, False), ("gpu02", 6818, False)]
    assert (found["mlnx_qos"], found["layers"], found["direct"]) == (False, {}, ["ctl"])
    # NICs are the nodes', also where switches are the site's
    assert (found["netdevs"][0], found["rdma"][0]) == ("rail0", "mlx5_0")


def test_the_cabling_names_ports() -> None:
    intent = load(site("example-rails"))
    assert intent.fabric and intent.fabric.cabling
    name = next(iter(intent.nodes.by_name))
    cables = preflight(intent.fabric, intent.nodes, intent.slurm, {}, None, name)["cables"]
    assert all(port for _, port in cables.values())

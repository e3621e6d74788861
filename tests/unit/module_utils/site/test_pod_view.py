# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Mig, Nodes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.pod_view import (
    gated_classes,
    gated_nodes,
    has_unlike_nodes,
    pod_limits,
)

from tests.unit.module_utils.lab import KUBE, NODES, SLURM, kube
from tests.unit.module_utils.site.test_refused import site

MIXED = kube(gpu_operator={"install": False, "mig_strategy": "mixed"})


def with_halves(first: str) -> Nodes:
    """Nodes of the lab, of which the second unit has halves of GPUs, and the first one is of this class."""
    build, (one, two) = NODES.classes["h100"], NODES.ranges
    halves = replace(build, gpus=replace(build.gpus, mig=Mig({"3g.40gb": 2})))
    ranges = (replace(one, node_class=first), replace(two, node_class="halves"))
    return replace(NODES, classes={**NODES.classes, "halves": halves}, ranges=ranges)


def test_gated_classes_are_those_of_gated_nodes() -> None:
    assert gated_nodes(SLURM) == ["gpu01", "gpu02", "gpu03", "gpu04"]
    assert list(gated_classes(NODES, SLURM)) == ["h100"]
    assert list(gated_classes(with_halves("h100"), SLURM)) == ["h100", "halves"]
    first = tuple(replace(part, nodes="gpu[01-02]") for part in SLURM.partitions)
    assert list(gated_classes(with_halves("h100"), replace(SLURM, partitions=first))) == ["h100"]


def test_nodes_are_unlike_where_some_of_them_are_divided() -> None:
    assert has_unlike_nodes(with_halves("h100"), SLURM, KUBE) and has_unlike_nodes(with_halves("h100"), SLURM, MIXED)
    assert not has_unlike_nodes(with_halves("halves"), SLURM, MIXED)
    build = NODES.classes["h100"]
    four = replace(build, gpus=replace(build.gpus, numa=(0, 0, 1, 1)))
    whole = replace(with_halves("h100"), classes={"h100": build, "halves": four})
    assert not has_unlike_nodes(whole, SLURM, MIXED), "as before there were instances"
    first = tuple(replace(part, nodes="gpu[01-02]") for part in SLURM.partitions)
    assert not has_unlike_nodes(with_halves("h100"), replace(SLURM, partitions=first), MIXED), "pods never meet them"


@pytest.mark.parametrize(
    ("host", "gpus"),
    [("gpu01", {"gpus": "8"}), ("gpu03", {"gpus": "16", "resources": "nvidia.com/mig-3g.40gb=16"})],
)
def test_a_pod_takes_all_gpus_of_its_node_by_their_names(host: str, gpus: dict[str, str]) -> None:
    """128 CPUs without 0-3,64-67; 2064384 MiB without 12288."""
    limits = pod_limits(with_halves("h100"), MIXED, host)
    assert limits == {"cpus": "120", "memory": "2052096Mi", **gpus}


def test_a_script_learns_the_name_of_gpus_of_another_vendor() -> None:
    """Only the name of the default vendor's GPUs goes without saying."""
    intent = site("example-mi300x")
    nodes, own = (part(it, intent[f"drawbridge_{it}"]) for it in ("nodes", "kube"))
    limits = pod_limits(nodes, own, "gpu01")
    assert (limits["gpus"], limits["resources"]) == ("8", "amd.com/gpu=8")
    assert "resources" not in pod_limits(NODES, KUBE, "gpu01")


def test_the_proof_counts_instances_under_any_strategy() -> None:
    """A node of another partition may have divided GPUs, which its processes hold as well."""
    for strategy in ("none", "single"):
        site = kube(gpu_operator={"install": False, "mig_strategy": strategy})
        assert pod_limits(with_halves("h100"), site, "gpu03")["gpus"] == "16"

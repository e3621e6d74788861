# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    bindings,
    gate,
    infra_capacity,
    infrastructure,
    names,
    namespaces,
    objects,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent

from tests.unit.module_utils.lab import KUBE, NODES, SLURM, kube
from tests.unit.module_utils.site.test_refused import patched, site


def test_only_a_node_gives_itself_away_and_only_the_controller_knows_other_nodes() -> None:
    """128 CPUs without 0-3,64-67; 2064384 MiB without 12288. A new node changes a file on no other one."""
    node, controller = (gate(NODES, SLURM, KUBE, host) for host in ("gpu01", "ctl"))
    assert node["pod_limits"] == {"cpus": "120", "memory": "2052096Mi", "gpus": "8"}
    assert (node["partition_nodes"], controller["pod_limits"]) == ({}, {})
    assert controller["partition_nodes"] == {"ai-train": "gpu[01-04]"}


def test_the_labs_infra_capacity() -> None:
    assert infra_capacity(SLURM, KUBE) == {
        "infra": ["infra1"],
        "gated": ["gpu01", "gpu02", "gpu03", "gpu04"],
        "job_namespaces": ["vision", "speech", "chem"],
    }


def test_gated_nodes_and_job_namespaces_have_objects_of_their_own() -> None:
    """The golden plans have them whole."""
    kinds = [it["kind"] for it in (*objects(SLURM), *bindings(SLURM))]
    expected = {"ServiceAccount": 2 + 4, "ResourceQuota": 3, "RoleBinding": 3 * 3}
    assert {kind: kinds.count(kind) for kind in kinds} == expected


def test_the_account_of_health_exists_where_findings_are_decided_about() -> None:
    names = [[it["metadata"]["name"] for it in objects(SLURM, health)][:3] for health in (None, Health())]
    assert names == [["opener", "reconciler", "gpu01"], ["opener", "reconciler", "health"]]


def test_a_namespace_is_for_jobs_or_for_infrastructure() -> None:
    said = [it["metadata"] for it in (*namespaces(SLURM), *infrastructure(KUBE))]
    labels = {it["name"]: set(it["labels"]) for it in said}
    assert labels.pop("vision") == labels.pop("speech") == labels.pop("chem") == {"drawbridge.io/gated"}
    assert set(labels) == {"drawbridge-gate", "drawbridge-nodes", "kube-system"}
    assert all(label == {"drawbridge.io/infra"} for label in labels.values())


def test_manifests_get_the_gates_names_and_the_sites_schedulers() -> None:
    told = names(KUBE, NODES)
    assert told["schedulers"] == ["system:kube-scheduler"]
    assert told["node_accounts"] == "system:serviceaccount:drawbridge-nodes:"
    assert all(key == key.lower() for key in told)


def test_a_kind_without_a_controller_is_no_right() -> None:
    assert names(kube(controllers={}), NODES)["jobs_may"] == ["batch"]
    jobsets = kube(controllers={"jobset": "a/b"})
    assert names(jobsets, NODES)["jobs_may"] == ["jobset.x-k8s.io", "batch"]


def test_pods_may_ask_for_the_sites_devices() -> None:
    told = names(kube(devices=["example.com/fpga"], rdma={}), NODES)
    assert told["devices"][0] == "nvidia.com/gpu" and told["devices"][-1] == "example.com/fpga"
    assert "rdma/rail7" in told["devices"]


def divided(strategy: str, *whole: int) -> Intent:
    """The site of the lab with two instances in each of its GPUs, except in some."""
    mig = {"layout": {"3g.40gb": 2}, "exceptions": [{"gpus": list(whole), "layout": {}}] if whole else []}
    gpus = {"product": "NVIDIA H100 80GB HBM3", "mig": mig}
    changes = {f"drawbridge_nodes.classes.h100.gpus.{key}": value for key, value in gpus.items()}
    return load(patched({**changes, "drawbridge_kube.gpu_operator.mig_strategy": strategy}))


def test_a_pod_with_a_divided_node_takes_its_instances_by_their_names() -> None:
    built = divided("mixed", 6, 7)
    assert built.kube
    limits = gate(built.nodes, built.slurm, built.kube, "gpu01")["pod_limits"]
    assert limits["gpus"] == "14", "the gate's proof counts them, too"
    assert limits["resources"] == "nvidia.com/mig-3g.40gb=12,nvidia.com/gpu=2"
    assert names(built.kube, built.nodes)["devices"][:2] == ["nvidia.com/gpu", "nvidia.com/mig-3g.40gb"]


def test_instances_with_the_name_of_gpus_are_counted_as_these() -> None:
    built = divided("single")
    assert built.kube
    limits = gate(built.nodes, built.slurm, built.kube, "gpu01")["pod_limits"]
    assert limits["gpus"] == "16" and "resources" not in limits
    assert not [name for name in names(built.kube, built.nodes)["devices"] if "mig" in name]


def of_amd() -> Intent:
    """A site with AMD's GPUs alone."""
    return load(site("example-mi300x"))


def test_pods_ask_for_gpus_of_the_sites_vendors_and_limits_count_them() -> None:
    built = of_amd()
    assert built.kube and names(built.kube, built.nodes)["devices"][:2] == ["amd.com/gpu", "rdma/rails"]
    config = gate(built.nodes, built.slurm, built.kube, "gpu01")
    assert config["pod_limits"]["gpus"] == "8"
    proof = config["gpu_proof"]
    assert (proof["major"], proof["minors_from"], proof["processes"]) == (226, 128, [])
    assert proof["process_folder"] == "/sys/class/kfd/kfd/proc"

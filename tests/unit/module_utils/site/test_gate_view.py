# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    config,
    names,
    namespaces,
    objects,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.view import shared

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
SLURM, NODES, KUBE, GPFS = (part(domain, SITE[f"drawbridge_{domain}"]) for domain in ("slurm", "nodes", "kube", "gpfs"))


def named(kind: str) -> list[str]:
    found = [it for it in objects(SLURM, KUBE) if it["kind"] == kind]
    return [f"{it['metadata']['namespace']}/{it['metadata']['name']}" for it in found]


def test_a_node_knows_what_it_may_give_away() -> None:
    found = config(SLURM, KUBE, NODES, "gpu01")
    assert found["partitions"] == ["ai-train"]
    assert found["namespaces"] == {"vision": "vision", "speech": "speech", "chem": "chem"}
    # 128 CPUs without 0-3,64-67; 2064384 MiB without 12288
    assert found["pod_limits"] == {"cpus": "120", "memory": "2052096Mi", "gpus": "8"}


def test_a_controller_gives_nothing_away() -> None:
    assert config(SLURM, KUBE, NODES, "ctl")["pod_limits"] == {}


def test_only_the_controllers_file_knows_other_nodes() -> None:
    """A new node must not change a file on any other one."""
    assert config(SLURM, KUBE, NODES, "ctl")["partition_nodes"] == {"ai-train": "gpu[01-04]"}
    assert config(SLURM, KUBE, NODES, "gpu01")["partition_nodes"] == {}


def test_limits_come_from_the_intent() -> None:
    found = config(SLURM, KUBE, NODES, "gpu01")
    assert {key: found[key] for key in ("patience_s", "empty_s", "pod_grace_s", "tries")} == {
        "patience_s": 60,
        "empty_s": 90,
        "pod_grace_s": 10,
        "tries": 5,
    }


def test_every_gated_node_has_an_account_of_its_own_away_from_the_gates() -> None:
    accounts = named("ServiceAccount")
    assert accounts == [
        "drawbridge-gate/opener",
        "drawbridge-gate/reconciler",
        *(f"drawbridge-nodes/gpu0{number}" for number in range(1, 5)),
    ]


def test_rights_in_a_namespace_are_given_namespace_by_namespace() -> None:
    assert named("RoleBinding") == [
        f"{space}/drawbridge-{role}"
        for space in ("vision", "speech", "chem")
        for role in ("opener", "reconciler", "node")
    ]


def test_a_namespace_is_for_jobs_or_for_infrastructure() -> None:
    labels = {it["metadata"]["name"]: set(it["metadata"]["labels"]) for it in namespaces(SLURM, shared(GPFS), KUBE)}
    assert labels.pop("vision") == labels.pop("speech") == labels.pop("chem") == {"drawbridge.io/gated"}
    assert set(labels) == {"drawbridge-gate", "drawbridge-nodes", "kube-system"}
    assert all(label == {"drawbridge.io/infra"} for label in labels.values())


def test_nodes_of_infrastructure_may_be_born_open() -> None:
    listed = objects(SLURM, KUBE)[0]
    assert (listed["kind"], listed["metadata"]["namespace"]) == ("ConfigMap", "drawbridge-gate")
    assert listed["data"] == {"infra1": ""}


def test_manifests_are_told_the_gates_names_and_the_sites_schedulers() -> None:
    told = names(KUBE, NODES)
    assert told["schedulers"] == ["system:kube-scheduler"]
    assert told["node_accounts"] == "system:serviceaccount:drawbridge-nodes:"
    assert all(key == key.lower() for key in told)


def test_pods_may_see_the_sites_file_systems() -> None:
    found = namespaces(SLURM, shared(GPFS), KUBE)[0]["metadata"]["annotations"]
    assert found == {"drawbridge.io/host-paths": "/gpfs/fs1", "drawbridge.io/max-pods": "440"}


def test_a_namespace_of_jobs_has_a_quota_and_others_have_none() -> None:
    quotas = [it for it in objects(SLURM, KUBE) if it["kind"] == "ResourceQuota"]
    assert [it["metadata"]["namespace"] for it in quotas] == ["vision", "speech", "chem"]
    assert quotas[0]["spec"]["hard"]["pods"] == quotas[0]["spec"]["hard"]["count/jobs.batch"] == "440"


def test_pods_may_ask_for_the_sites_devices() -> None:
    told = names(part("kube", {**SITE["drawbridge_kube"], "devices": ["example.com/fpga"], "rdma": {}}), NODES)
    assert told["devices"][0] == "nvidia.com/gpu" and told["devices"][-1] == "example.com/fpga"
    assert "rdma/rail7" in told["devices"]

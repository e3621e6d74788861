# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Manifests: the pod, and the kinds of workload that make it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.kinds import KINDS
from roles.drawbridge_run.files.run.pod import START, chosen_mounts, environment, template
from tests.unit.roles.drawbridge_run.job import ADA, NAME, granted, request


def spec(root: Path, line: str = "--image img -- python train.py", **slurm: str) -> dict[str, Any]:
    return template(request(root, line, **slurm))["spec"]


def variables(root: Path, line: str = "--image img -- python train.py", **slurm: str) -> dict[str, str]:
    return {entry["name"]: entry.get("value", "") for entry in spec(root, line, **slurm)["containers"][0]["env"]}


def test_a_pod_takes_one_whole_node(tmp_path: Path) -> None:
    resources = spec(tmp_path)["containers"][0]["resources"]
    whole = {"nvidia.com/gpu": "8", "cpu": "120", "memory": "2052096Mi", "rdma/rail0": "1"}
    assert resources == {"requests": whole, "limits": whole}


def test_a_pod_takes_all_instances_of_a_divided_node(tmp_path: Path) -> None:
    """The gate names them where they have names of their own, and counts them for launchers."""
    named = {"DRAWBRIDGE_POD_GPUS": "14", "DRAWBRIDGE_POD_RESOURCES": "nvidia.com/mig-3g.40gb=12,nvidia.com/gpu=2"}
    asked = replace(request(tmp_path), grant=granted(tmp_path, **named))
    container = template(asked)["spec"]["containers"][0]
    whole = {"nvidia.com/mig-3g.40gb": "12", "nvidia.com/gpu": "2", "cpu": "120"}
    assert container["resources"]["limits"] == {**whole, "memory": "2052096Mi", "rdma/rail0": "1"}
    assert {"name": "DRAWBRIDGE_PROCESSES", "value": "14"} in container["env"]


def test_a_pod_without_gpus_asks_for_none(tmp_path: Path) -> None:
    asked = replace(request(tmp_path), grant=granted(tmp_path, DRAWBRIDGE_POD_GPUS="0"))
    limits = template(asked)["spec"]["containers"][0]["resources"]["limits"]
    assert limits == {"cpu": "120", "memory": "2052096Mi", "rdma/rail0": "1"}


def test_a_pod_is_the_jobs_and_the_users(tmp_path: Path) -> None:
    found = spec(tmp_path)
    assert found["nodeSelector"] == {"drawbridge.node-restriction.kubernetes.io/slurm-job": "4711"}
    assert found["tolerations"] == [{"key": "drawbridge.io/slurm", "value": "vision.4711", "effect": "NoSchedule"}]
    assert found["serviceAccountName"] == "slurm-4711-u2001-g3001"
    user = {"runAsUser": 2001, "runAsGroup": 3001, "supplementalGroupsPolicy": "Strict"}
    user["supplementalGroups"] = [3011, 3012]
    assert found["securityContext"] == {**user, "seccompProfile": {"type": "RuntimeDefault"}}
    assert found["containers"][0]["workingDir"] == "/"
    assert found["containers"][0]["securityContext"] == {"allowPrivilegeEscalation": False}
    assert not found["automountServiceAccountToken"]


def test_file_systems_are_at_their_own_paths(tmp_path: Path) -> None:
    found = spec(tmp_path, "--image img --mount /gpfs/fs2:ro --mount /gpfs/fs1 -- true")
    volumes = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in found["volumes"]}
    assert {it["hostPath"]["type"] for it in found["volumes"] if "hostPath" in it} == {"Directory"}
    mounts = found["containers"][0]["volumeMounts"]
    assert {(volumes[it["name"]], it["mountPath"], it.get("readOnly", False)) for it in mounts} == {
        (None, "/dev/shm", False),
        *(("/gpfs/fs1", "/gpfs/fs1", False), ("/gpfs/fs2", "/gpfs/fs2", True)),
    }
    assert next(volume for volume in found["volumes"] if volume["name"] == "shm")["emptyDir"] == {"medium": "Memory"}


def test_a_file_system_in_another_comes_with_it(tmp_path: Path) -> None:
    """No volume is mounted below another, in which a job could put a link in its way."""
    asked = request(tmp_path, "--image img -- true")
    site = replace(asked.site, mounts={"vision": ["/gpfs/fs1", "/gpfs/fs1/deep", "/home"]})
    assert chosen_mounts(replace(asked, site=site)) == {"/gpfs/fs1": False, "/home": False}
    other = replace(asked.options, mounts=["/gpfs/fs1", "/gpfs/fs1/deep:ro"])
    with pytest.raises(Refused, match="/gpfs/fs1/deep lies in /gpfs/fs1 and comes with it"):
        chosen_mounts(replace(asked, site=site, options=other))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--image img --mount /scratch -- true", "which are: /gpfs/fs1, /gpfs/fs2"),
        ("--image img --mount /gpfs/fs1/home -- true", "a file system of the account"),
        ("--image img --mount /gpfs/fs1:rx -- true", "PATH:ro"),
        ("--image img --mount /gpfs/fs2 -- true", "the pods see /gpfs/fs2, but not /gpfs/fs1/home/ada"),
        ("--image img --env NOWHERE -- true", "NOWHERE: it is not set here"),
    ],
)
def test_what_pods_would_not_see_is_refused(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        spec(tmp_path, line)


def test_the_sites_settings_are_there_and_the_users_win(tmp_path: Path) -> None:
    assert variables(tmp_path)["NCCL_IB_TC"] == "106"
    found = variables(tmp_path, "--image img --env NCCL_IB_TC=0 --env TOKENS --env EMPTY= -- true")
    assert (found["NCCL_IB_TC"], found["TOKENS"], found["EMPTY"]) == ("0", "two", "")


@pytest.mark.parametrize(("path", "seen"), [("/gpfs/fs1/topology.xml", True), ("/opt/topology.xml", False)])
def test_a_topology_file_is_set_where_the_pod_can_read_it(tmp_path: Path, path: str, seen: bool) -> None:
    settings = {"NCCL_IB_TC": "106", "NCCL_TOPO_FILE": path}
    found = {it["name"]: it.get("value") for it in environment(replace(request(tmp_path), nccl=settings))}
    assert (found["NCCL_IB_TC"], found.get("NCCL_TOPO_FILE")) == ("106", path if seen else None)


@pytest.mark.parametrize(
    ("devices", "gloo"), [("=bond0", "bond0"), ("=eno1,eno2", "eno1,eno2"), ("eno", None), ("^docker", None)]
)
def test_gloo_uses_the_devices_that_the_site_names_for_nccl(tmp_path: Path, devices: str, gloo: str | None) -> None:
    """In full: NCCL's prefixes and exclusions are nothing that Gloo understands."""
    settings = {"NCCL_SOCKET_IFNAME": devices}
    found = {it["name"]: it.get("value") for it in environment(replace(request(tmp_path), nccl=settings))}
    assert (found["NCCL_SOCKET_IFNAME"], found.get("GLOO_SOCKET_IFNAME")) == (devices, gloo)


def test_home_is_where_pods_can_write(tmp_path: Path) -> None:
    assert variables(tmp_path)["HOME"] == "/gpfs/fs1/home/ada"
    assert variables(tmp_path)["USER"] == "ada"


def test_secrets_are_named_and_never_read(tmp_path: Path) -> None:
    env = spec(tmp_path, "--image img --secret-env KEY=wandb/api -- true")["containers"][0]["env"]
    assert {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "api"}}} in env


DOLLARS = ("echo $$ $(hostname) $(USER) $$(USER) ${HOME} $", "$", "$$", "$(", "a$b")


def expanded(text: str, values: dict[str, str]) -> str:
    """What a kubelet makes of a command's words and of variables' values: $$ is $, $(NAME) a value if there is one."""
    return re.sub(r"\$(?:\$|\(([^)]*)\))", lambda it: "$" if it[0] == "$$" else values.get(it[1], it[0]), text)


def test_dollars_reach_the_pod_as_they_were_typed(tmp_path: Path) -> None:
    made = replace(request(tmp_path), user=replace(ADA, env={"PROMPT": "$(USER)$$ "}))
    options = replace(made.options, command=("sh", "-c", *DOLLARS), env=("PROMPT", "COST=5$$"))
    container = template(replace(made, options=options))["spec"]["containers"][0]
    plain = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    words = [expanded(word, plain) for word in container["command"]]
    assert words == ["/bin/sh", "-c", START, "drawbridge-run", "sh", "-c", *DOLLARS]
    assert (expanded(plain["PROMPT"], plain), expanded(plain["COST"], plain)) == ("$(USER)$$ ", "5$$")


@pytest.mark.parametrize(("node", "rank"), [("gpu01", "0"), ("gpu02", "1")])
def test_the_pod_finds_its_place_by_its_node(tmp_path: Path, node: str, rank: str) -> None:
    """Whatever a controller has put into the environment."""
    given = {**variables(tmp_path), "DRAWBRIDGE_NODE": node, "MASTER_ADDR": "run-worker-0", "PET_NODE_RANK": "7"}
    argv = ["/bin/sh", "-c", START, "drawbridge-run", "sh", "-c", 'env; pwd; umask; echo "$1"', "sh", "a  b"]
    env = {**given, "PATH": "/usr/bin:/bin", "DRAWBRIDGE_WORKDIR": str(tmp_path)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    *rest, where, umask, word = done.stdout.splitlines()
    found = dict(line.split("=", 1) for line in rest)
    place = {"MASTER_ADDR": "10.0.0.21", "MASTER_PORT": "24711", "NNODES": "2", "NODE_RANK": rank}
    torchs = {"PET_NPROC_PER_NODE": "8", **{f"PET_{key}": value for key, value in place.items()}}
    found = {key: it for key, it in found.items() if key.startswith(("PET_", "MASTER", "NNODES", "NODE_"))}
    assert found == {**place, **torchs}
    assert (where, umask, word) == (str(tmp_path), "0027", "a  b")


def test_a_directory_that_its_user_may_not_enter_is_where_nothing_runs(tmp_path: Path) -> None:
    """The runtime would enter it as root."""
    assert variables(tmp_path)["DRAWBRIDGE_WORKDIR"].startswith("/gpfs/fs1/")
    env = {**variables(tmp_path), "DRAWBRIDGE_NODE": "gpu01", "DRAWBRIDGE_WORKDIR": str(tmp_path / "absent")}
    argv = ["/bin/sh", "-c", START, "drawbridge-run", "echo", "ran"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (125, "")
    assert "absent" in done.stderr


def made(root: Path, kind: str) -> list[dict[str, Any]]:
    return KINDS[kind].make(request(root))


def pods(value: Any) -> Iterator[dict[str, Any]]:
    """Templates of pods, wherever a kind keeps them."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for inner in value.values():
            yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_are_labelled_and_named_for_the_gate(tmp_path: Path, kind: str) -> None:
    items = made(tmp_path, kind)
    for part in (*items, *pods(items)):
        assert part["metadata"]["labels"]["drawbridge.io/slurm-job"] == "4711"
    assert {item["metadata"]["name"] for item in items} == {NAME}


@pytest.mark.parametrize(("kind", "container"), [("job", "main"), ("trainjob", "node"), ("pytorchjob", "pytorch")])
def test_all_kinds_make_the_same_pod(tmp_path: Path, kind: str, container: str) -> None:
    """Under the name that the kind wants its container to have."""
    (pod,), (reference,) = list(pods(made(tmp_path, kind))), list(pods(made(tmp_path, "job")))
    assert pod["spec"]["containers"][0].pop("name") == container
    reference["spec"]["containers"][0].pop("name")
    assert pod == reference


def test_one_pod_a_node_and_no_second_try(tmp_path: Path) -> None:
    (job,) = made(tmp_path, "job")
    assert [job["spec"][key] for key in ("completions", "parallelism", "backoffLimit")] == [2, 2, 0]
    runtime, train_job = made(tmp_path, "trainjob")
    assert runtime["spec"]["mlPolicy"]["numNodes"] == train_job["spec"]["trainer"]["numNodes"] == 2
    assert runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] == 0
    (pytorch_job,) = made(tmp_path, "pytorchjob")
    assert pytorch_job["spec"]["runPolicy"]["backoffLimit"] == 0
    assert {kind: it["replicas"] for kind, it in pytorch_job["spec"]["pytorchReplicaSpecs"].items()} == {"Worker": 2}

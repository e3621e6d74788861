# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of containerd 2.1's ctr, and of nvidia-smi 570, captured."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate import host as host_module
from roles.slurm_gate.files.gate.command import NO_ANSWER, Said
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.host import Host, obstacle
from tests.unit.roles.slurm_gate.cluster import Tools

TASKS = "TASK    PID     STATUS\naaa     1131    RUNNING\nbbb     1202    STOPPED\nccc     1300    RUNNING\n"


def test_containers_with_a_process_count() -> None:
    tools = Tools({"ctr --namespace k8s.io containers": "aaa\nbbb\n", "ctr --namespace k8s.io tasks": TASKS})
    assert Host(tools, "ctr").containers(["vision", "speech"]) == ["aaa"]
    assert 'labels."io.kubernetes.pod.namespace"==speech labels."io' in tools.asked[0]


def test_without_any_container_of_jobs_nothing_more_is_asked() -> None:
    tools = Tools({"ctr --namespace k8s.io containers": ""})
    assert Host(tools, "ctr").containers(["vision"]) == []
    assert len(tools.asked) == 1


def test_crictl_names_the_pods() -> None:
    def labels(namespace: str, pod: str) -> dict[str, dict[str, str]]:
        return {"labels": {"io.kubernetes.pod.namespace": namespace, "io.kubernetes.pod.name": pod}}

    answers = {
        "crictl ps": json.dumps({"containers": [labels("vision", "slurm-1-r0"), labels("kube-system", "dns")]}),
        "crictl pods": json.dumps({"items": [labels("vision", "slurm-1-r0"), labels("vision", "slurm-2-r0")]}),
    }
    assert Host(Tools(answers), "crictl").containers(["vision"]) == ["slurm-1-r0", "slurm-2-r0"]


def test_processes_on_gpus() -> None:
    tools = Tools({"nvidia-smi": "4242, python3\n4242, python3\n77, [Not Found]\n"})
    assert Host(tools, "ctr").gpu_processes() == {4242: "python3", 77: "[Not Found]"}


@pytest.mark.parametrize("said", [Said(9, "NVIDIA-SMI has failed", ""), Said(NO_ANSWER, "", "timed out after 20 s")])
def test_no_answer_is_not_empty(said: Said) -> None:
    host = Host(Tools({"nvidia-smi": said, "ctr": said}), "ctr")
    for question in (host.gpu_processes, lambda: host.containers(["vision"])):
        with pytest.raises(Refused, match=r"does not say what runs here \((NVIDIA-SMI has failed|timed out)"):
            question()


@pytest.mark.parametrize(
    ("containers", "on_gpus", "allowed", "why"),
    [
        ([], {}, [], ""),
        (["pod"], {}, [], "container pod still runs"),
        ([], {5: "python3"}, [], "process 5 (python3) uses a GPU"),
        ([], {5: "python3"}, [5], ""),
        ([], {5: "python3", 6: "ghost"}, [5], "process 6 (ghost)"),
    ],
)
def test_what_keeps_a_host_from_being_empty(
    containers: list[str], on_gpus: dict[int, str], allowed: list[int], why: str
) -> None:
    found = obstacle(containers, on_gpus, allowed)
    assert found.startswith(why) and bool(found) is bool(why)


def test_a_daemon_is_known_by_a_file_of_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by what it calls itself: users' copies of a program may have its name."""
    monkeypatch.setattr(host_module, "PROC", tmp_path)
    roots = Path("/bin/ls").resolve()
    for pid, program in ((5, roots), (6, tmp_path / roots.name), (8, Path("/bin/cat"))):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "exe").symlink_to(program)
    (tmp_path / roots.name).write_text("")
    os.chown(tmp_path / roots.name, 2001, 3001)
    host = Host(Tools({}), "ctr")
    assert host.daemons([5, 6, 7, 8], [roots.name]) == [5]
    assert host.daemons([5], []) == []

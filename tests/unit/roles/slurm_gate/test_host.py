# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of containerd 2.1's ctr, and of nvidia-smi 570, captured."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate import processes
from roles.slurm_gate.files.gate.command import NO_ANSWER, Result
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.host import Host, obstacle
from tests.unit.roles.slurm_gate.cluster import Tools

TASKS = "TASK    PID     STATUS\naaa     1131    RUNNING\nbbb     1202    STOPPED\nccc     1300    RUNNING\n"


def test_containers_with_a_process_count() -> None:
    tools = Tools({"ctr --namespace k8s.io containers": "aaa\nbbb\n", "ctr --namespace k8s.io tasks": TASKS})
    assert Host(tools, "ctr").containers(["kube-system", "gpu-operator"]) == ["aaa"]
    label = 'labels."io.kubernetes.pod.namespace"'
    assert tools.asked[0].endswith(f" {label}!=gpu-operator,{label}!=kube-system")


def test_a_jobs_own_containers_are_no_company_of_its() -> None:
    listed = "ctr --namespace k8s.io containers list --quiet labels"
    own = f'{listed}."io.kubernetes.pod.namespace"==vision,labels."io.kubernetes.pod.name"~="^slurm-1-"'
    tools = Tools({own: "aaa\n", listed: "aaa\nccc\n", "ctr --namespace k8s.io tasks": TASKS})
    assert Host(tools, "ctr").containers(["kube-system"], ("vision", "slurm-1-")) == ["ccc"]


def test_crictl_names_the_pods() -> None:
    def labels(namespace: str, pod: str) -> dict[str, dict[str, str]]:
        return {"labels": {"io.kubernetes.pod.namespace": namespace, "io.kubernetes.pod.name": pod}}

    answers = {
        "crictl ps": json.dumps({"containers": [labels("vision", "slurm-1-r0"), labels("kube-system", "dns")]}),
        "crictl pods": json.dumps(
            {"items": [labels("vision", "slurm-1-r0"), labels("shop", "cart"), {"id": "bare", "labels": {}}]}
        ),
    }
    host = Host(Tools(answers), "crictl")
    assert host.containers(["kube-system"]) == ["bare", "cart", "slurm-1-r0"]
    assert host.containers(["kube-system"], ("vision", "slurm-1-")) == ["bare", "cart"]


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(processes, "PROC", tmp_path / "proc")
    (tmp_path / "proc").mkdir()
    return tmp_path / "proc"


def running(
    proc: Path, pid: int, *files: str, name: str = "x", parent: int = 1, uid: int = 0, group: str = "0::/"
) -> None:
    place = proc / str(pid)
    (place / "fd").mkdir(parents=True)
    (place / "comm").write_text(f"{name}\n")
    escaped = name.replace("\n", "\\n")
    (place / "status").write_text(f"Name:\t{escaped}\nPPid:\t{parent}\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n")
    (place / "cgroup").write_text(f"{group}\n")
    for number, file in enumerate(files):
        (place / "fd" / str(number)).symlink_to(file)


def test_who_holds_a_gpus_device_file_uses_it(proc: Path) -> None:
    """Whether it computes or not, and whatever it calls itself."""
    running(proc, 5, "/dev/null", "/dev/nvidia3", name="train\n9, forged")
    running(proc, 6, "/dev/nvidiactl", "/dev/nvidia-uvm")
    running(proc, 7, "/home/ada/dev/nvidia3", "socket:[1]")
    (proc / "meminfo").write_text("")
    tools = Tools({"nvidia-smi": "4242\n4242\n"})
    assert Host(tools, "ctr").gpu_processes() == {4242: "ended", 5: "train?9, forged"}


def test_what_infrastructures_containers_hold_is_theirs(proc: Path) -> None:
    known = "ab" * 32
    running(proc, 100)
    running(proc, 101, parent=100)
    running(proc, 102, parent=101)
    running(proc, 200, group=f"0::/kubepods/pod1/{known}")
    running(proc, 300, parent=1)
    listed = {
        "ctr --namespace k8s.io containers": f"aaa\n{known}\n",
        "ctr --namespace k8s.io tasks": "TASK PID STATUS\naaa 100 RUNNING\n",
    }
    assert Host(Tools(listed), "ctr").infra_processes([102, 200, 300, 400], ["kube-system"]) == [102, 200]
    items = {"containers": [{"id": known, "labels": {"io.kubernetes.pod.namespace": "kube-system"}}]}
    assert Host(Tools({"crictl": json.dumps(items)}), "crictl").infra_processes([102, 200], ["kube-system"]) == [200]


@pytest.mark.parametrize(
    "said", [Result(9, "NVIDIA-SMI has failed", ""), Result(NO_ANSWER, "", "timed out after 20 s")]
)
def test_no_answer_is_not_empty(said: Result) -> None:
    host = Host(Tools({"nvidia-smi": said, "ctr": said}), "ctr")
    for question in (host.gpu_processes, lambda: host.containers(["vision"])):
        with pytest.raises(Refused, match=r"does not report what runs here \((NVIDIA-SMI has failed|timed out)"):
            question()


def test_a_process_that_may_be_here_excuses_no_other() -> None:
    assert obstacle([], {5: "python3", 6: "ghost"}, [5]).startswith("process 6 (ghost)")


def test_a_daemon_is_known_by_a_file_of_roots_and_by_who_started_it(tmp_path: Path, proc: Path) -> None:
    """Not by what it calls itself: users' copies of a program may have its name, and users may start root's."""
    roots = Path("/bin/ls").resolve()
    ours, cat = tmp_path / roots.name, Path("/bin/cat")
    for pid, program, uid in ((5, roots, 0), (6, ours, 0), (8, cat, 0), (9, roots, 2001), (10, roots, 998)):
        running(proc, pid, uid=uid)
        (proc / str(pid) / "exe").symlink_to(program)
    (tmp_path / roots.name).write_text("")
    os.chown(tmp_path / roots.name, 2001, 3001)
    host = Host(Tools({}), "ctr")
    assert host.daemons([5, 6, 7, 8, 9, 10], [roots.name]) == [5, 10]
    assert host.daemons([5], []) == []

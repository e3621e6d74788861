# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of containerd 2.1's ctr, and of nvidia-smi 570, captured."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate import host, processes
from roles.slurm_gate.files.gate.command import NO_ANSWER, Result
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.host import Host, obstacle
from roles.slurm_gate.files.gate.processes import Gpus
from tests.unit.roles.slurm_gate.cluster import CONFIG, Tools

PROOF = CONFIG["gpu_proof"]
GPUS = Gpus.of("/dev/nvidia", 195, 254)
TASKS = "TASK    PID     STATUS\naaa     1131    RUNNING\nbbb     1202    STOPPED\nccc     1300    RUNNING\n"


def test_containers_with_a_process_count() -> None:
    tools = Tools({"ctr --namespace k8s.io containers": "aaa\nbbb\n", "ctr --namespace k8s.io tasks": TASKS})
    assert Host(tools, "ctr", PROOF).containers(["kube-system", "gpu-operator"]) == ["aaa"]
    label = 'labels."io.kubernetes.pod.namespace"'
    assert tools.asked[0].endswith(f" {label}!=gpu-operator,{label}!=kube-system")


def test_a_jobs_own_containers_are_no_company_of_its() -> None:
    listed = "ctr --namespace k8s.io containers list --quiet labels"
    own = f'{listed}."io.kubernetes.pod.namespace"==vision,labels."io.kubernetes.pod.name"~="^slurm-1-"'
    tools = Tools({own: "aaa\n", listed: "aaa\nccc\n", "ctr --namespace k8s.io tasks": TASKS})
    assert Host(tools, "ctr", PROOF).containers(["kube-system"], ("vision", "slurm-1-")) == ["ccc"]


def test_crictl_names_the_pods() -> None:
    def labels(namespace: str, pod: str) -> dict[str, dict[str, str]]:
        return {"labels": {"io.kubernetes.pod.namespace": namespace, "io.kubernetes.pod.name": pod}}

    answers = {
        "crictl ps": json.dumps({"containers": [labels("vision", "slurm-1-r0"), labels("kube-system", "dns")]}),
        "crictl pods": json.dumps(
            {"items": [labels("vision", "slurm-1-r0"), labels("shop", "cart"), {"id": "bare", "labels": {}}]}
        ),
    }
    host = Host(Tools(answers), "crictl", PROOF)
    assert host.containers(["kube-system"]) == ["bare", "cart", "slurm-1-r0"]
    assert host.containers(["kube-system"], ("vision", "slurm-1-")) == ["bare", "cart"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Result(0), ""),
        (Result(1, "it has no passport\n"), "it needs a valid passport (it has no passport)"),
        (Result(NO_ANSWER, "", "timed out"), "it needs a valid passport (timed out)"),
    ],
)
def test_a_node_with_the_passports_program_needs_its_consent(
    answer: Result, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "passport"
    monkeypatch.setattr(host, "PASSPORT", program)
    gate = Host(Tools({f"{program} look": answer}), "ctr", PROOF)
    assert gate.unproved() == ""
    program.touch()
    assert gate.unproved() == why


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
    assert Host(tools, "ctr", PROOF).gpu_processes() == {4242: "", 5: "train?9, forged"}


def test_who_uses_an_instance_holds_the_file_of_its_gpu(proc: Path) -> None:
    """And files of the instance's rights beside it. Monitors have only those of all GPUs."""
    caps = "/dev/nvidia-caps/nvidia-cap"
    running(proc, 5, "/dev/nvidiactl", "/dev/nvidia1", f"{caps}147", f"{caps}148", name="train")
    running(proc, 6, "/dev/nvidiactl", f"{caps}2")
    assert Host(Tools({"nvidia-smi": "4242\n"}), "ctr", PROOF).gpu_processes() == {4242: "", 5: "train"}


def test_a_device_is_known_by_its_number_under_any_name(tmp_path: Path, proc: Path) -> None:
    for name, minor in (("gpu", 3), ("control", 255)):
        os.mknod(tmp_path / name, stat.S_IFCHR | 0o666, os.makedev(195, minor))
    for pid, file in ((5, "gpu"), (6, "control"), (7, "gpu"), (8, "gpu")):
        running(proc, pid, str(tmp_path / file), uid=0 if pid == 7 else 2001)
    (proc / "8/fdinfo").mkdir()
    (proc / "8/fdinfo/0").write_text("pos:\t0\nflags:\t02\nmnt_id:\t31\nino:\t5\n")
    (proc / "8/mountinfo").write_text("31 1 0:40 / /home rw,relatime - nfs4 store:/home rw,vers=4.2\n")
    assert set(processes.holders(GPUS)) == {5}


AMD: dict[str, Any] = {"devices": "/dev/dri/renderD", "major": 226, "minors_from": 128, "minors_below": 1 << 20}


def of_amd(kfd: Path, answers: dict[str, Any] | None = None) -> Host:
    """A host whose kernel lists the processes on its GPUs."""
    return Host(Tools(answers or {}), "ctr", {**AMD, "processes": [], "process_folder": str(kfd)})


def test_a_process_in_the_kernels_folder_uses_a_gpu_with_or_without_a_device_file(tmp_path: Path, proc: Path) -> None:
    """All GPUs share /dev/kfd: a process that has it open is in the folder before it opens a render node."""
    for pid in ("5", "4242", "topology"):
        (tmp_path / "kfd" / pid).mkdir(parents=True)
    running(proc, 5, "/dev/kfd", name="python3")
    running(proc, 6, "/dev/dri/renderD136")
    running(proc, 7, "/dev/dri/card0", "/dev/kfd.txt")
    assert of_amd(tmp_path / "kfd").gpu_processes() == {5: "python3", 6: "x", 4242: ""}


def test_render_nodes_are_gpus_and_cards_are_not(tmp_path: Path, proc: Path) -> None:
    for name, major, minor in (("card", 226, 7), ("render", 226, 136), ("late", 226, 300), ("other", 195, 136)):
        os.mknod(tmp_path / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    for pid, file in ((5, "card"), (6, "render"), (7, "late"), (8, "other")):
        running(proc, pid, str(tmp_path / file), uid=2001)
    (tmp_path / "kfd").mkdir()
    assert set(of_amd(tmp_path / "kfd").gpu_processes()) == {6, 7}


def test_without_the_kernels_folder_a_node_with_gpus_is_not_proved_empty(tmp_path: Path, proc: Path) -> None:
    """The driver is not loaded, or the folder is no folder: what runs on the GPUs is not known."""
    with pytest.raises(Refused, match=r"kfd does not show who uses GPUs \(No such file or directory\): load the GPU"):
        of_amd(tmp_path / "kfd").gpu_processes()
    (tmp_path / "kfd").touch()
    with pytest.raises(Refused, match=r"does not show who uses GPUs \(Not a directory\)"):
        of_amd(tmp_path / "kfd").gpu_processes()


DETACHED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
assert libc.unshare(0x20000) == 0  # a mount namespace of its own
assert libc.mount(b"none", b"/", None, 0x44000, None) == 0  # private, with all below
assert libc.mount(b"/dev/null", sys.argv[1].encode(), None, 0x1000, None) == 0  # bind
held = open(sys.argv[1])
assert libc.umount2(sys.argv[1].encode(), 2) == 0  # detached
os.setgid(2001), os.setuid(2001)
print(os.readlink(f"/proc/self/fd/{held.fileno()}"), flush=True)
sys.stdin.read()
"""


def test_a_device_is_found_behind_a_mount_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The null device is 1:3."""
    (tmp_path / "innocent").touch()
    argv = [sys.executable, "-c", DETACHED, str(tmp_path / "innocent")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:
        assert user.stdin and user.stdout
        assert user.stdout.readline() == "/\n", "its link does not name the device"
        found = processes.holders(Gpus.of("/dev/nvidia", 1, 254))
        user.stdin.close()
    assert user.pid in found


def test_a_users_control_group_is_no_container(proc: Path) -> None:
    known = "ab" * 32
    session = "/user.slice/user-2001.slice/user@2001.service"
    running(proc, 5, group=f"0::{session}/app.slice/{known}.scope")
    running(proc, 6, group=f"0::{session}/kubepods.slice/cri-containerd-{known}.scope")
    running(proc, 7, group=f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{known}.scope")
    running(proc, 8, group=f"12:pids:/kubepods/burstable/pod1/{known}\n1:name=systemd:/")
    running(proc, 9)
    (proc / "9/cgroup").write_bytes(b"0::/user.slice/caf\xe9\n")
    assert processes.of_containers([5, 6, 7, 8, 9], [known], []) == [7, 8]


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
    assert Host(Tools(listed), "ctr", PROOF).infra_processes([102, 200, 300, 400], ["kube-system"]) == [102, 200]
    items = {"containers": [{"id": known, "labels": {"io.kubernetes.pod.namespace": "kube-system"}}]}
    assert Host(Tools({"crictl": json.dumps(items)}), "crictl", PROOF).infra_processes([102, 200], ["kube-system"]) == [
        200
    ]


@pytest.mark.parametrize(
    "said", [Result(9, "NVIDIA-SMI has failed", ""), Result(NO_ANSWER, "", "timed out after 20 s")]
)
def test_no_answer_is_not_empty(said: Result) -> None:
    host = Host(Tools({"nvidia-smi": said, "ctr": said}), "ctr", PROOF)
    for question in (host.gpu_processes, lambda: host.containers(["vision"])):
        with pytest.raises(Refused, match=r"does not report what runs here \((NVIDIA-SMI has failed|timed out)"):
            question()


def test_a_users_groups_are_without_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(Tools({}), "ctr", PROOF)
    monkeypatch.setattr(os, "getgrouplist", lambda name, gid: {"root": [gid, 0, 3012, 3011]}[name])
    assert host.groups(0, 3001) == [3011, 3012]
    assert host.groups(4_000_000_000, 3001) == []


def test_a_process_that_may_be_here_excuses_no_other() -> None:
    assert obstacle([], {5: "python3", 6: "ghost"}, [5]).startswith("process 6 (ghost)")
    assert obstacle([], {6: ""}, []).startswith("the GPU driver still lists process 6, which has ended: ")


def test_a_daemon_is_known_by_a_file_of_roots_and_by_who_started_it(tmp_path: Path, proc: Path) -> None:
    """Not by what it calls itself: users' copies of a program may have its name, and users may start root's."""
    roots = Path("/bin/ls").resolve()
    ours, cat = tmp_path / roots.name, Path("/bin/cat")
    for pid, program, uid in ((5, roots, 0), (6, ours, 0), (8, cat, 0), (9, roots, 2001), (10, roots, 998)):
        running(proc, pid, uid=uid)
        (proc / str(pid) / "exe").symlink_to(program)
    (tmp_path / roots.name).write_text("")
    os.chown(tmp_path / roots.name, 2001, 3001)
    host = Host(Tools({}), "ctr", PROOF)
    assert host.daemons([5, 6, 7, 8, 9, 10], [roots.name]) == [5, 10]
    assert host.daemons([5], []) == []

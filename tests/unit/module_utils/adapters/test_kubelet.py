# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters import kubelet as adapter
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.kubelet import Kubelet, Places
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import DeviceError, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.dialects.kubelet_config import (
    KubeletState,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.kubelet import plan

WANT = KubeletState(render({"cpuManagerPolicy": "static"}), enabled=True, running=True, current=True)
GOOD = (
    'E1121 run.go:72] "command failed" err="failed to run Kubelet: invalid kubeconfig: stat /nonexistent: no such file"'
)
BAD = 'E1121 run.go:72] "command failed" err="unknown policy: \\"statik\\""'


class Node:
    """A node with systemd, a kubelet and Slurm, as far as commands show them."""

    def __init__(self, says: str = GOOD, queue: Completed | None = None) -> None:
        self.enabled, self.started_us, self.says = False, 0, says
        self.queue = queue or Completed(0, "", "")
        self.ran: list[str] = []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(" ".join(argv[:2]))
        if argv[0] == "kubelet":
            assert (Path(argv[2].split("=")[1]) / "50-drawbridge.conf").read_text().startswith("# Written")
            return Completed(1, "", f"I1121 flags\n{self.says}\n")
        if argv[0] == "squeue":
            if self.queue.rc:
                raise DeviceError("squeue failed: no answer")
            return self.queue
        if argv[0] == "journalctl":
            return Completed(0, BAD, "")
        if argv[1] == "enable":
            self.enabled = True
        if argv[1] == "start":
            self.started_us = int(time.monotonic() * 1e6) + 1
        active = "active" if self.started_us else "inactive"
        unit = f"UnitFileState={'enabled' if self.enabled else 'disabled'}\nActiveState={active}\n"
        return Completed(0, f"{unit}ExecMainStartTimestampMonotonic={self.started_us}\n", "")


@pytest.fixture
def device(tmp_path: Path, monkeypatch: Any) -> Any:
    def make(node: Node, want: KubeletState = WANT) -> Kubelet:
        places = Places(
            tmp_path / "conf.d/50-drawbridge.conf", tmp_path / "config.yaml", tmp_path, "", tmp_path / "pods"
        )
        made = Kubelet(places, "gpu01", want, node, start_timeout_s=0)
        monkeypatch.setattr(Kubelet, "_healthy", lambda self: bool(node.started_us))
        monkeypatch.setattr(adapter, "POLL_S", 0)
        monkeypatch.setattr(adapter, "HEALTHY_LOOKS", 1)
        monkeypatch.setattr(adapter.shutil, "which", lambda name: name)
        return made

    return make


def test_a_bare_node_gets_a_checked_drop_in_and_a_started_kubelet(device: Any, tmp_path: Path) -> None:
    node = Node()
    (tmp_path / "memory_manager_state").write_text("old")
    outcome = converge(device(node), plan, WANT)
    assert not outcome.error
    assert not (tmp_path / "memory_manager_state").exists()
    node.ran.clear()
    assert converge(device(node), plan, WANT).steps == []
    assert node.ran == ["systemctl show"]


def test_what_the_kubelet_refuses_is_never_written(device: Any, tmp_path: Path) -> None:
    outcome = converge(device(Node(BAD)), plan, WANT)
    assert "the kubelet refuses this configuration" in outcome.error
    assert "unknown policy: 'statik'" in outcome.error
    assert not (tmp_path / "conf.d").exists()
    assert not outcome.changed


@pytest.mark.parametrize(
    ("queue", "reason"),
    [(Completed(0, "4711\n", ""), "Slurm job 4711 is on this node"), (Completed(1, "", ""), "Slurm does not say")],
)
def test_a_node_in_use_is_left_alone(device: Any, queue: Completed, reason: str) -> None:
    node = Node()
    converge(device(node), plan, WANT)
    node.queue = queue
    other = KubeletState(render({"cpuManagerPolicy": "none"}), enabled=True, running=True, current=True)
    outcome = converge(device(node, other), plan, other)
    assert not outcome.changed
    assert reason in outcome.pending[0]


def test_a_jobs_pod_keeps_the_node_busy_without_slurm(device: Any, tmp_path: Path) -> None:
    node = Node()
    converge(device(node), plan, WANT)
    (tmp_path / "pods/vision_slurm-7-r0-0-abcde_uid").mkdir(parents=True)
    other = KubeletState(render({}), enabled=True, running=True, current=True)
    assert "vision_slurm-7" in converge(device(node, other), plan, other).pending[0]


def test_a_file_that_is_newer_than_the_kubelet_needs_a_restart(device: Any, tmp_path: Path) -> None:
    node = Node()
    converge(device(node), plan, WANT)
    node.started_us -= 60_000_000
    assert converge(device(node), plan, WANT).steps == [
        "restart the kubelet with it, and forget the old policies' state"
    ]


def test_a_new_kubelet_that_does_not_stay_up_is_stopped(device: Any, monkeypatch: Any) -> None:
    node = Node()
    kubelet = device(node)
    monkeypatch.setattr(Kubelet, "_healthy", lambda self: False)
    error = converge(kubelet, plan, WANT).error
    assert "unknown policy" in error
    assert error.endswith("it is stopped")
    assert node.ran[-2] == "systemctl stop"


def test_one_that_ran_before_gets_its_old_content_back(device: Any, monkeypatch: Any, tmp_path: Path) -> None:
    node = Node()
    converge(device(node), plan, WANT)
    before = (tmp_path / "conf.d/50-drawbridge.conf").read_text()
    other = KubeletState(render({"reservedSystemCPUs": "0-3,200"}), enabled=True, running=True, current=True)
    kubelet = device(node, other)
    monkeypatch.setattr(
        Kubelet, "_healthy", lambda self: (tmp_path / "conf.d/50-drawbridge.conf").read_text() == before
    )
    outcome = converge(kubelet, plan, other)
    assert outcome.error.endswith("it runs with its old configuration again")
    assert (tmp_path / "conf.d/50-drawbridge.conf").read_text() == before
    assert node.ran[-2:] == ["systemctl start", "systemctl show"] or "squeue" in node.ran[-1]

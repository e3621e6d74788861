# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import use_io as node_use
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use_io import REASON, NodeUse


class Slurm:
    """A node in Slurm: drained or not, with these jobs."""

    def __init__(self, *jobs: str, reason: str = "") -> None:
        self.jobs, self.reason, self.arrives = list(jobs), reason, ""
        self.answers = True

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if not self.answers:
            raise DeviceError("slurm_load: Unable to contact slurm controller")
        if argv[0] == "squeue":
            return Completed(0, "\n".join(self.jobs), "")
        if argv[1] == "update":
            wanted = dict(word.split("=", 1) for word in argv[2:])
            self.reason = wanted["reason"] if wanted["state"] == "drain" else ""
            self.jobs += [self.arrives] if self.arrives else []
            return Completed(0, "", "")
        state = "IDLE+DRAIN" if self.reason else "IDLE"
        return Completed(0, f"NodeName=gpu01 State={state} Reason={self.reason} [root@2026-11-21T10:00:00]", "")


@pytest.fixture
def use(tmp_path: Path, monkeypatch: Any) -> Any:
    monkeypatch.setattr(node_use.shutil, "which", lambda name: name)
    return lambda slurm: NodeUse(slurm, "gpu01", tmp_path / "pods", tmp_path / "lib/marker")


def test_jobs_and_their_pods_use_a_node(use: Any, tmp_path: Path) -> None:
    slurm = Slurm("7")
    assert "Slurm job 7 is on this node" in use(slurm).busy()
    slurm.jobs = []
    assert use(slurm).busy() == ""
    slurm.answers = False
    assert "Slurm gave no list of the jobs on this node" in use(slurm).busy()
    (tmp_path / "pods/vision_slurm-7-r0-0-abcde_uid").mkdir(parents=True)
    assert "vision_slurm-7" in use(slurm).busy()


def test_a_node_without_its_passport_stays_drained_for_its_proof(use: Any, monkeypatch: Any) -> None:
    slurm = Slurm()
    use(slurm).drain()
    monkeypatch.setattr(node_use.passport_io, "installed", lambda: "/passport")
    monkeypatch.setattr(node_use.passport_io, "unproved", lambda run, program: f"{program} says no")
    use(slurm).resume()
    assert (slurm.reason, use(slurm).drained) == ("drawbridge: health: 60-passport: /passport says no", False)


def test_a_free_node_is_drained_and_comes_back(use: Any) -> None:
    slurm = Slurm()
    node = use(slurm)
    node.drain()
    assert (slurm.reason, node.drained) == (REASON, True)
    use(slurm).resume()
    assert (slurm.reason, node.drained) == ("", False)


def test_a_drain_with_another_reason_stays_after_the_change(use: Any) -> None:
    slurm = Slurm()
    node = use(slurm)
    node.drain()
    slurm.reason = "fan broken"
    node.resume()
    assert (slurm.reason, node.drained) == ("fan broken", False)


def test_a_job_that_was_faster_keeps_its_node(use: Any) -> None:
    slurm = Slurm()
    slurm.arrives = "8"
    node = use(slurm)
    with pytest.raises(DeviceError, match="taken before it could be drained: Slurm job 8"):
        node.drain()
    assert (slurm.reason, node.drained) == ("", False)


def test_without_slurm_no_command_runs(use: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(node_use.shutil, "which", lambda name: None)
    slurm = Slurm("7")
    slurm.answers = False
    node = use(slurm)
    assert node.busy() == ""
    node.drain()
    node.resume()

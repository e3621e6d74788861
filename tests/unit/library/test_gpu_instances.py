# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module on emulated tools. Their faults are those of test_instances_io.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import use_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import (
    instances_io,
    instances_layer,
)

from tests.unit.library.emulated import Host, converged
from tests.unit.library.ways import ALONE, VISIT
from tests.unit.module_utils.nodes.gpus import emulated_mig

ARGS: dict[str, Any] = {"name": "gpu01", "gpus": [{}, {"3g.40gb": 2}]}
DIVIDE = "divide GPU 1 into 3g.40gb: 2 (it has none)"
RESTART = "restart slurmd.service, which started before the GPUs were divided"


class Mig(emulated_mig.Host):
    """A host whose tools are called in this process; `find` and `command` are doubles of core.command's."""

    missing: str = ""

    def find(self, name: str) -> str:
        if name == self.missing:
            raise DeviceError(f"{name} is not installed on this host")
        return f"/usr/bin/{name}"

    def command(self, limit_s: float, stdin: str = "") -> Any:
        def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            if argv[0] == self.missing:
                raise DeviceError(f"{argv[0]} can't be run: No such file or directory", cmd=list(argv))
            done = self.call(argv, stdin)
            if done.rc not in ok:
                raise DeviceError(f"{argv[0]} failed: {done.err}", rc=done.rc, stdout=done.out, stderr=done.err)
            return Completed(*done)

        return run


@pytest.fixture(params=[ALONE, VISIT])
def host(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = Host(tmp_path, "gpu01", monkeypatch, capfd)
    host.way = request.param
    return host


@pytest.fixture
def mig(host: Host, monkeypatch: Any) -> Mig:
    mig = Mig(host.root)
    for name in ("STAMP", "LOCK"):
        monkeypatch.setattr(instances_io, name, str(host.root / name))
    monkeypatch.setattr(use_io.NodeUse, "pod", lambda self: "")
    monkeypatch.setattr(use_io.shutil, "which", lambda name: name)
    monkeypatch.setattr(instances_layer, "Command", mig.command)
    monkeypatch.setattr(instances_layer, "tool", mig.find)
    return mig


def test_gpus_are_divided_as_check_predicts(host: Host, mig: Mig) -> None:
    done = converged(lambda **more: host.run("gpu_instances", **ARGS, **more), mig.writes)
    assert done["steps"] == [DIVIDE, RESTART]
    assert done["diff"]["after"] == "GPU 0: whole\nGPU 1: 3g.40gb: 2\n"
    assert mig.instances() == [[], ["3g.40gb"] * 2]
    whole = converged(lambda **more: host.run("gpu_instances", name="gpu01", **more), mig.writes)
    assert whole["steps"] == ["make GPU 1 whole (it has 3g.40gb: 2)", RESTART]


def test_on_a_node_with_a_job_the_change_is_pending(host: Host, mig: Mig) -> None:
    mig.change(job="7")
    done = host.run("gpu_instances", **ARGS)
    assert (done["changed"], done["steps"], mig.writes()) == (False, [], [])
    assert done["pending"][0] == f"{DIVIDE}: Slurm job 7 is on this node; drain it and run this again"


def test_a_lie_is_a_failure(host: Host, mig: Mig) -> None:
    mig.change(faults=["lie"])
    done = host.fail("gpu_instances", "nvidia-mig-parted reported success, but the GPUs differ", **ARGS)
    assert (done["changed"], done["left"][0]) == (True, DIVIDE)


@pytest.mark.parametrize("check", [True, False])
def test_without_the_tool_its_package_is_named(host: Host, mig: Mig, check: bool) -> None:
    mig.missing = "nvidia-mig-parted"
    done = host.run("gpu_instances", check, **ARGS)
    assert done["failed"] and "install NVIDIA's package nvidia-mig-manager" in done["refused"][0]
    assert mig.writes() == []


def test_without_a_driver_nothing_is_predicted(host: Host, mig: Mig) -> None:
    mig.missing, why = "nvidia-smi", "nvidia-smi is not installed on this host"
    assert host.run("gpu_instances", check=True, **ARGS)["pending"] == [f"{why}, so nothing can be predicted"]
    assert host.run("gpu_instances", **ARGS)["msg"] == why
    assert host.run("gpu_instances", name="gpu01")["steps"] == []


def test_gpus_of_a_vendor_without_instances_are_refused(host: Host) -> None:
    assert "whose GPUs have no instances" in host.run("gpu_instances", gpu_vendor="amd", **ARGS)["msg"]


def test_counts_are_numbers(host: Host, mig: Mig) -> None:
    assert host.run("gpu_instances", name="gpu01", gpus=[{}, {"3g.40gb": "2"}])["steps"] == [DIVIDE, RESTART]
    assert host.run("gpu_instances", name="gpu01", gpus=[{}, {"3g.40gb": 2}])["steps"] == []
    assert "is no number" in host.run("gpu_instances", name="gpu01", gpus=[{"3g.40gb": "two"}])["msg"]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module on the files of a host with eight MI300X."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import (
    instances_io,
    modes_io,
)

from tests.unit.library.emulated import Host, converged
from tests.unit.library.ways import ALONE, VISIT
from tests.unit.module_utils.nodes.gpus import kfd

ARGS: dict[str, Any] = {"name": "gpu01", "gpu_vendor": "amd", "gpu_modes": {"compute": "CPX"}}
STEP = "set the compute partition of 8 GPUs to CPX (it is SPX)"


@pytest.fixture(params=[ALONE, VISIT])
def host(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = Host(tmp_path, "gpu01", monkeypatch, capfd)
    host.way = request.param
    monkeypatch.setattr(modes_io, "ROOT", str(kfd.host(tmp_path / "tree")))
    monkeypatch.setattr(instances_io.Slurm, "in_use", lambda self: "")
    return host


def modes() -> list[str]:
    return [
        path.read_text().strip() for path in Path(modes_io.ROOT).glob("sys/bus/pci/devices/*/current_compute_partition")
    ]


def test_a_drained_node_gets_its_mode_as_check_predicts(host: Host) -> None:
    done = converged(lambda **more: host.run("gpu_modes", **ARGS, **more), lambda: modes())
    assert done["steps"] == [STEP] and modes() == ["CPX"] * 8


def test_on_a_node_with_a_job_the_change_is_pending(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr(instances_io.Slurm, "in_use", lambda self: "Slurm job 7 is on gpu01")
    done = host.run("gpu_modes", **ARGS)
    assert not done["changed"] and done["pending"] == [f"{STEP}: Slurm job 7 is on gpu01"]
    assert modes() == ["SPX"] * 8


def test_a_kernel_that_takes_a_write_without_effect_is_a_failure(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr(modes_io, "_write", lambda path, mode: None)
    done = host.run("gpu_modes", **ARGS)
    assert done["failed"] and STEP in str(done)


def test_a_mode_that_gpus_of_the_vendor_have_not_is_refused(host: Host) -> None:
    done = host.run("gpu_modes", **{**ARGS, "gpu_vendor": "nvidia"})
    assert done["failed"] and "gpu_modes has compute, which GPUs of nvidia have not" in done["msg"]

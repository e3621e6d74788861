# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `make gpu` does before it starts a daemon: whether it can run, the intent, and the files of the host."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.gpu import __main__ as program
from tests.gpu import machine, proposed
from tests.gpu.confinement import Confinement, confinement
from tests.gpu.driver import Gpu
from tests.gpu.proposed import NODE, intent, nodes
from tests.gpu.scene import texts
from tests.unit.module_utils.machine_facts import facts

V2, HYBRID = "0::/system.slice/run.service\n", "5:devices:/\n4:cpu,cpuacct:/\n3:freezer:/\n0::/\n"
SERVER = "epyc_nps1"


def described(numa: int | None = None, **other: Any) -> dict[str, Any]:
    """The nodes of a server. `numa` is what its kernel says of each GPU, if not the truth; others are further facts."""
    read: dict[str, Any] = {**copy.deepcopy(facts(SERVER)), "memory_mib": 2000000, **other}
    found = [Gpu(at, "", it["pci"], it["name"], it["minor"], it["numa"]) for at, it in enumerate(read["gpus"])]
    for gpu in read["gpus"] if numa is not None else ():
        gpu["numa"] = numa
    return nodes(read, found, "0,192")


def test_a_machine_without_a_gpu_checks_nothing_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    why = machine.refusal(tmp_path)
    assert why == "this machine has no NVIDIA GPU (no file /dev/nvidia0)"
    monkeypatch.setattr(program, "refusal", lambda: why)
    for arguments in ([], ["--look"]):
        assert program.main(arguments) == 1
        assert capsys.readouterr().err == f"make gpu checked nothing: {why}\n"


def test_a_machine_with_a_gpu_names_it_with_its_device_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "refusal", str)
    monkeypatch.setattr(program, "seen", lambda: [Gpu(0, "GPU-a", "0000:1b:00.0", "NVIDIA H100 80GB HBM3", 3)])
    assert program.main(["--look"]) == 0
    assert capsys.readouterr().out == "GPU 0: NVIDIA H100 80GB HBM3 0000:1b:00.0 /dev/nvidia3\n"


@pytest.mark.parametrize("known", [None, -1])
def test_the_intent_has_the_gpus_that_the_driver_shows(known: int | None) -> None:
    """The driver knows the NUMA nodes of GPUs that the kernel of a virtual machine does not know."""
    gpus = intent(described(known)).nodes.class_of(NODE).gpus
    assert (gpus.type, gpus.numa, gpus.present) == ("h100", (0, 0, 0, 0, 1, 1, 1, 1), 8)


def test_a_question_that_only_a_person_can_answer_is_named() -> None:
    with pytest.raises(ValueError, match=r"questions about this machine: memory_mib: slurmd -C$"):
        described(memory_mib=0)


def test_a_wrong_class_claims_one_more_gpu() -> None:
    gpus = intent(described(), more=1).nodes.class_of(NODE).gpus
    assert (gpus.count, gpus.present, gpus.numbers) == (8, 9, [*range(8)])


def test_the_first_core_is_reserved(tmp_path: Path) -> None:
    file = tmp_path / proposed.FIRST_CORE
    file.parent.mkdir(parents=True)
    file.write_text("0,192\n")
    assert proposed.first_core(tmp_path) == "0,192"


@pytest.mark.parametrize(
    ("groups", "lines", "left"),
    [
        (V2, ["ConstrainDevices=yes", "CgroupPlugin=cgroup/v2", "IgnoreSystemd=yes"], "drawbridge-gpu-test"),
        (HYBRID, ["ConstrainDevices=yes", "CgroupPlugin=cgroup/v1"], f"slurm_{NODE}"),
        ("3:cpu:/\n0::/\n", ["CgroupPlugin=disabled"], ""),
        ("", ["CgroupPlugin=disabled"], ""),
    ],
)
def test_devices_are_confined_by_the_machines_own_control_groups(groups: str, lines: list[str], left: str) -> None:
    confined = confinement(groups, NODE)
    files = host(confined)
    assert [it for it in files["etc/slurm/cgroup.conf"].splitlines() if not it.startswith("#")] == lines
    assert confined.group == left
    assert bool(confined.unconfined) == ("CgroupPlugin=disabled" in lines)
    tracked = "linuxproc" if confined.unconfined else "cgroup"
    assert f"ProctrackType=proctrack/{tracked}\n" in files["etc/slurm/slurm.conf"]


def test_the_host_has_the_rendered_gpus_and_both_classes_to_compare_with() -> None:
    files = host(confinement(V2, NODE))
    assert "Type=h100 File=/dev/nvidia[0-3] Cores=0-95 Flags=nvidia_gpu_env" in files["etc/slurm/gres.conf"]
    assert "Gres=gpu:h100:8" in files["etc/slurm/slurm.conf"]
    assert [it["machine"]["gpus"] for it in json.loads(files["out/hardware.json"])] == [8, 9]


def host(confined: Confinement) -> dict[str, str]:
    """Files of the host."""
    own, claimed = (intent(described(), "24.11", more) for more in (0, 1))
    return texts(own, claimed, confined)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of a real slurmd on this machine's GPUs, with the configuration that Drawbridge derives from describe.yml.

With SLURM_SUITE=sid the daemons are Debian's newest.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.node_groups import gres
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.text import node

from tests.gpu import machine
from tests.gpu.confinement import Confinement, confinement
from tests.gpu.driver import Gpu
from tests.gpu.proposed import NODE, intent
from tests.gpu.scene import play, texts
from tests.slurm_daemons import Place, unpacked

pytestmark = pytest.mark.live

CLOSED = os.strerror(1)


@pytest.fixture(scope="module")
def confined() -> Confinement:
    """How this machine confines devices."""
    return confinement(Path("/proc/self/cgroup").read_text(), NODE)


@pytest.fixture(scope="module")
def out(
    gpus: list[Gpu], described: dict[str, Any], confined: Confinement, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Outputs of the daemons and jobs."""
    place: Place = unpacked(tmp_path_factory.mktemp("slurm"))
    own, claimed = (intent(described, place.release, more) for more in (0, 1))
    files = texts(own, claimed, confined)
    return play(place, tmp_path_factory.mktemp("scene"), files, machine.driver_files(), confined, own)


def job(out: Path, name: str) -> dict[str, Any]:
    """What a job saw."""
    return json.loads((out / f"job-{name}").read_text())


def opened(found: dict[str, Any]) -> set[str]:
    """Device files that a job could open."""
    return {path for path, said in found["files"].items() if said == "opened"}


def closed(found: dict[str, Any]) -> set[str]:
    """Device files that the kernel refused to a job."""
    return {path for path, said in found["files"].items() if said == CLOSED}


def uuids(found: dict[str, Any]) -> list[str]:
    """GPUs that nvidia-smi listed in a job."""
    return re.findall(r"UUID: (GPU-[0-9a-f-]+)\)", found["listed"])


def needs(confined: Confinement) -> None:
    """Say that confinement is not checked, where it can't be."""
    if confined.unconfined:
        pytest.skip(f"NOT CHECKED, whether a job opens only its own GPUs: {confined.unconfined}")


def test_the_hardware_check_finds_a_wrong_number_of_gpus_alone(gpus: list[Gpu], out: Path) -> None:
    right, wrong = (out / "differences").read_text().splitlines()
    assert (right, wrong) == ("", f"{len(gpus)} GPUs instead of {len(gpus) + 1}")


def test_slurmd_finds_each_gpu_by_the_rendered_file(gpus: list[Gpu], described: dict[str, Any], out: Path) -> None:
    kind = intent(described).nodes.class_of(NODE).gpus.type
    records = re.findall(r"Gres Name=gpu Type=(\S+) Count=([0-9]+) .* Flags=(\S+)", (out / "gres").read_text())
    assert {(name, flags) for name, _count, flags in records} == {(kind, "HAS_FILE,HAS_TYPE,ENV_NVML")}
    assert sum(int(count) for _name, count, _flags in records) == len(gpus)


def test_the_node_is_idle_with_the_gpus_of_its_class(described: dict[str, Any], out: Path) -> None:
    shown = node((out / "node").read_text())
    assert (shown.state, shown.flags) == ("IDLE", frozenset())
    assert shown.gres == gres(intent(described).nodes.class_of(NODE))


def test_a_job_with_a_gpu_has_its_variable_and_opens_it(gpus: list[Gpu], out: Path) -> None:
    found = job(out, "one")
    assert list(found["environment"]) == ["CUDA_VISIBLE_DEVICES"]
    assert re.fullmatch("[0-9]+", found["environment"]["CUDA_VISIBLE_DEVICES"])
    assert opened(found) & {gpu.file for gpu in gpus}
    assert {*uuids(found)} & {gpu.uuid for gpu in gpus}


def test_a_job_with_all_gpus_opens_them_all(gpus: list[Gpu], out: Path) -> None:
    found = job(out, "all")
    assert found["environment"] == {"CUDA_VISIBLE_DEVICES": ",".join(str(gpu.index) for gpu in gpus)}
    assert opened(found) == {gpu.file for gpu in gpus}
    assert uuids(found) == [gpu.uuid for gpu in gpus]


def test_a_job_with_a_gpu_opens_no_other(gpus: list[Gpu], out: Path, confined: Confinement) -> None:
    needs(confined)
    found = job(out, "one")
    (mine,) = (gpu for gpu in gpus if gpu.file in opened(found))
    assert closed(found) == {gpu.file for gpu in gpus} - {mine.file}
    assert uuids(found) == [mine.uuid]


def test_a_job_without_a_gpu_has_no_variable(out: Path) -> None:
    assert job(out, "none")["environment"] == {}


def test_a_job_without_a_gpu_opens_none(gpus: list[Gpu], out: Path, confined: Confinement) -> None:
    needs(confined)
    found = job(out, "none")
    assert (opened(found), closed(found)) == (set(), {gpu.file for gpu in gpus})
    assert uuids(found) == []


def test_a_second_job_waits_while_all_gpus_have_a_job(out: Path) -> None:
    assert sorted((out / "queue").read_text().splitlines()) == ["PENDING Resources", "RUNNING None"]

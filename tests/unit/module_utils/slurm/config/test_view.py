# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import (
    cgroup_conf,
    controller_files,
    cores_of,
    gres_conf,
    slurmdbd_conf,
)

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])


def test_slurm_conf_is_written_last() -> None:
    assert [*controller_files(SLURM, NODES, True)][-1] == "slurm.conf"


def test_gpus_know_the_cores_of_their_numa_node() -> None:
    node = "NodeName=gpu[01-04] Name=gpu Type=h100"
    assert gres_conf(NODES).splitlines()[1:] == [
        "AutoDetect=off",
        f"{node} File=/dev/nvidia[0-3] Cores=0-31 Flags=nvidia_gpu_env",
        f"{node} File=/dev/nvidia[4-7] Cores=32-63 Flags=nvidia_gpu_env",
    ]


@pytest.mark.parametrize(("numa_nodes", "numa", "cores"), [(2, 1, "32-63"), (4, 3, "48-63"), (1, 0, "0-63")])
def test_cores_are_abstract(numa_nodes: int, numa: int, cores: str) -> None:
    assert cores_of(replace(NODES.classes["h100"], numa_nodes=numa_nodes), numa) == cores


def test_production_confines_jobs_and_hybrid_machines_cannot() -> None:
    assert "ConstrainDevices=yes" in cgroup_conf(True, "24.11")
    assert cgroup_conf(False, "24.11").splitlines()[1:] == ["CgroupPlugin=disabled"]


def test_the_database_needs_no_password() -> None:
    assert "StoragePass" not in slurmdbd_conf(SLURM)
    assert "StorageHost=localhost" in slurmdbd_conf(SLURM)

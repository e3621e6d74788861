# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import view

from tests.unit.module_utils.machines import ALL, DESCRIBED, intent


def test_jobs_get_amds_render_nodes_and_amds_variables_alone() -> None:
    """Without the flag, jobs get the variables of all vendors and lose GPUs. The file of all GPUs, kfd, is no gres."""
    machine = ALL["dgx_h100"]
    numbers = list(range(128, 192, 8))
    gpus = {"type": "mi300x", "vendor": "amd", "numa": list(machine.gpus), "minors": numbers}
    site = intent(machine, gpus=gpus)
    text = view.gres_conf(site.nodes, site.slurm)
    assert [line for line in text.splitlines() if line and not line.startswith("#")] == [
        "AutoDetect=off",
        "NodeName=n1 Name=gpu Type=mi300x File=/dev/dri/renderD[128,136,144,152] Cores=0-55 Flags=amd_gpu_env",
        "NodeName=n1 Name=gpu Type=mi300x File=/dev/dri/renderD[160,168,176,184] Cores=56-111 Flags=amd_gpu_env",
    ]
    assert "kfd" not in text


def test_slurm_detects_instances_since_jobs_need_their_uuids() -> None:
    machine = ALL["dgx_h100"]
    gpus = {"type": "h100", "product": "NVIDIA H100 80GB HBM3", "numa": list(machine.gpus)}
    site = intent(machine, gpus={**gpus, "mig": {"layout": {"3g.40gb": 2}, "exceptions": [{"gpus": [0, 1]}]}})
    lines = view.gres_conf(site.nodes, site.slurm).splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == [
        "AutoDetect=off",
        "NodeName=n1 Name=gpu AutoDetect=nvml",
    ]


def test_shards_are_parts_of_all_gpus_of_a_node() -> None:
    machine = ALL["dgx_h100"]
    site = intent(machine, gpus={"type": "h100", "numa": list(machine.gpus), "shards": 4})
    assert view.gres_conf(site.nodes, site.slurm).splitlines()[-1] == "NodeName=n1 Name=shard Count=32"
    conf = view.controller_files(site.slurm, site.nodes, True)["slurm.conf"]
    assert " Gres=gpu:h100:8,shard:h100:32 " in conf and "\nGresTypes=gpu,shard\n" in conf
    assert "\nAccountingStorageTRES=gres/gpu,gres/shard,gres/gpu:h100\n" in conf


@pytest.mark.parametrize("name", DESCRIBED)
def test_gpus_are_near_the_cores_of_their_socket(name: str) -> None:
    """Files in the order of GPUs; no cores where a NUMA node is more than one socket."""
    machine, site = ALL[name], intent(ALL[name])
    lines = [line for line in view.gres_conf(site.nodes, site.slurm).splitlines() if line.startswith("NodeName=")]
    found = [dict(word.split("=") for word in line.split()) for line in lines]
    assert [(line["File"], line.get("Cores", "")) for line in found] == list(machine.gres)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer, of_table
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.system_findings import TABLE

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("swap_on", planted("system", swaps=["/dev/sda2"]), "swap is on: /dev/sda2"),
    ("cgroup_v1", planted("system", cgroup="tmpfs"), "/sys/fs/cgroup is tmpfs, not cgroup2"),
    ("cgroup_v1", planted("system", controllers=["cpu"]), "cgroup v2 has no controllers cpuset, memory"),
    (
        "kernel_old",
        planted("system", kernels=["6.1.0-9-amd64", "6.1.0-10-amd64"]),
        "kernel 6.1.0-9-amd64 runs, but 6.1.0-10-amd64 is installed",
    ),
    (
        "memlock_limited",
        {**SOUND, "units": [{"Id": "slurmd.service", "LoadState": "loaded", "LimitMEMLOCK": "65536"}]},
        "locked memory is limited for slurmd.service (65536)",
    ),
    (
        "disk_full",
        {**SOUND, "disks": [{"place": "/var", "free_mib": 12, "percent": 40}]},
        "little space is free below /var (12 MiB)",
    ),
    (
        "disk_full",
        {**SOUND, "disks": [{"place": "/var", "free_mib": 9000, "percent": 4}]},
        "little space is free below /var (9000 MiB)",
    ),
    (
        "gpfs_layer_missing",
        planted("gpfs", module=False),
        "GPFS is installed, but mmfs26.ko is not built for kernel 6.1.0-9-amd64",
    ),
    ("slurm_release", planted("releases", slurmd="22.05"), "slurmd 22.05 is installed; supported are 24.11, 25.05"),
    ("kubelet_release", planted("releases", kubelet="1.30"), "kubelet 1.30 is installed; supported are 1.36"),
    (
        "slurm_exists",
        planted("existing", slurm=["/etc/slurm/slurm.conf"]),
        "a Slurm configuration that Drawbridge did not write exists: /etc/slurm/slurm.conf",
    ),
    (
        "kubelet_exists",
        planted("existing", kubelet=["/etc/kubernetes/kubelet.conf"]),
        "a kubelet's configuration that Drawbridge did not write exists: /etc/kubernetes/kubelet.conf",
    ),
]


@pytest.mark.parametrize(("name", "facts", "text"), CASES)
def test_a_fault_is_the_only_finding(name: str, facts: dict[str, Any], text: str) -> None:
    assert [(it.name, it.text) for it in of_table(TABLE, Answer("gpu01", facts, WANT))] == [(name, text)]


def test_every_finding_has_a_case() -> None:
    assert {row.name for row in TABLE} == {name for name, _, _ in CASES}


@pytest.mark.parametrize("facts", [SOUND, {}, planted("gpfs", installed=False, module=False)])
def test_a_sound_or_unknown_host_has_none(facts: dict[str, Any]) -> None:
    assert list(of_table(TABLE, Answer("gpu01", facts, WANT))) == []


def test_a_controller_confines_no_jobs() -> None:
    facts = planted("system", cgroup="tmpfs")
    assert list(of_table(TABLE, Answer("ctl", facts, {**WANT, "node": False}))) == []

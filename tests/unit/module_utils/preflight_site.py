# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A sound site, as the answers of preflight's probes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

WANT: dict[str, Any] = {
    "name": "gpu01",
    "node": True,
    "class": "h100",
    "names": ["gpu01", "ctl"],
    "ports": [{"host": "ctl", "port": 6817, "open": False}],
    "listens": [6818],
    "users": ["slurm", "munge", "ada"],
    "accounts": ["ada"],
    "direct": ["ctl", "api.example.org"],
    "paths": ["ctl"],
    "gpus": 8,
    "gpu_vendor": "nvidia",
    "divided": False,
    "detects": False,
    "netdevs": ["rail0", "rail1"],
    "rdma": ["mlx5_0", "mlx5_1"],
    "mlnx_qos": True,
    "cables": {"rail0": ["leaf1", "Ethernet1"], "rail1": ["leaf1", ""]},
    "layers": {"gpfs": ["/usr/lpp/mmfs/bin", "mmfs26.ko"]},
    "state": {},
    "slurm_releases": ["24.11", "25.05"],
    "kubelet_releases": ["1.36"],
}
SOUND: dict[str, Any] = {
    "silent": {},
    "names": {"gpu01": "10.0.0.1", "ctl": "10.0.0.9"},
    "ports": [
        {"host": "ctl", "port": 6817, "open": False, "end": "refused"},
        {"host": "api", "port": 6443, "open": True, "end": "open"},
    ],
    "users": {"slurm": [64030, 64030], "munge": [101, 101], "ada": [2001, 3001]},
    "system": {
        "hostname": "gpu01.example.org",
        "kernel": "6.1.0-9-amd64",
        "kernels": ["6.1.0-9-amd64", "6.1.0-8-amd64"],
        "command_line": "quiet intel_iommu=on iommu=pt",
        "cgroup": "cgroup2",
        "controllers": ["cpuset", "cpu", "io", "memory"],
        "swaps": [],
        "lldpad": False,
    },
    "security": {"selinux": "Permissive", "policies": [], "closed": [], "proxies": {}},
    "disks": [{"place": "/", "free_mib": 90000, "percent": 60}, {"place": "/boot", "free_mib": 300, "percent": 40}],
    "layers": {"gpfs": {"installed": True, "module": True}},
    "gpus": {
        "files": 8,
        "drivers": ["570.148.08"],
        "error": "",
        "loaded": "NVIDIA UNIX Open Kernel Module for x86_64  570.148.08",
        "peermem": False,
        "switches": True,
        "manager": "active",
    },
    "pci": {"acs": [], "iommu": ["identity"]},
    "state": {"gpus": [], "rails": []},
    "units": [{"Id": "slurmd.service", "LoadState": "loaded", "LimitMEMLOCK": "infinity"}],
    "nics": {"missing": [], "rdma_missing": [], "mlnx_qos": "", "lldp": {"rail0": ["leaf1.example.org", "Ethernet1"]}},
    "mtu": [{"to": "ctl", "by": "eth0", "mtu": 1500, "whole": True, "split": True}],
    "releases": {"slurmd": "24.11", "kubelet": "1.36"},
    "existing": {"slurm": [], "kubelet": []},
}


def planted(probe: str, **faults: Any) -> dict[str, Any]:
    """The facts of a sound host with other answers of one probe."""
    return {**SOUND, probe: {**SOUND[probe], **faults}}


def changed(case: dict[str, Any]) -> dict[str, Any]:
    """The facts of a sound host with what a case of preflight/findings.yml changes."""
    answers = {probe: change for probe, change in case.items() if probe in SOUND}
    return {**SOUND, **{key: {**SOUND[key], **it} if isinstance(it, dict) else it for key, it in answers.items()}}


CASES, QUIET = yaml.safe_load_all((Path(__file__).parent / "preflight/findings.yml").read_text())

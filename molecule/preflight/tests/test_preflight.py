# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted on the lab's hosts are named, each on its host, and sound hosts have no finding."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist

from lab.emulators.nodes.lldpctl import neighbours
from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab, Run

BOOTED = "ctl,nsd1,gpu01,gpu02,gpu03,gpu04"
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
DOWN = "login1"
"""A host that this scenario does not boot."""


def tool(name: str, *lines: str, code: int = 0) -> str:
    """Put a tool before the real one, which prints these lines."""
    shown = "\n".join(lines)
    text = f"#!/bin/sh\ncat <<'END'\n{shown}\nEND\nexit {code}"
    return f"cat > /usr/local/bin/{name} <<'TOOL'\n{text}\nTOOL\nchmod 755 /usr/local/bin/{name}"


def kernel(path: str, text: str) -> str:
    """Another text in a file of the kernel."""
    copy = f"/run/planted{path.replace('/', '-')}"
    return f"printf '{text}' > {copy} && mount --bind {copy} {path}"


PLANTED: dict[str, dict[str, str]] = {
    "gpu01": {
        "swap_on": kernel("/proc/swaps", "Filename\\tType\\n/dev/sda2\\tpartition\\n"),
        "iommu_on": kernel("/proc/cmdline", "quiet intel_iommu=on\\n"),
        "acs_on": tool("lspci", "17:00.0 PCI bridge: PLX", "\t\tACSCtl:\tSrcValid+ ReqRedir+ CmpltRedir+"),
        "selinux_without_policy": tool("getenforce", "Enforcing"),
        "proxy_set": "echo https_proxy=http://proxy:3128 >> /etc/environment",
        "lldpad_running": "cp /bin/sleep /usr/local/bin/lldpad && systemd-run --quiet /usr/local/bin/lldpad 3600",
        "fabric_manager": "touch /dev/nvidia-nvswitch0",
        "gpu_direct": (
            "mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia"
            " && echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08' > /proc/driver/nvidia/version"
        ),
        "memlock_limited": (
            "printf '[Service]\\nExecStart=/bin/true\\nLimitMEMLOCK=64K\\n' > /etc/systemd/system/slurmd.service"
            " && systemctl daemon-reload"
        ),
        "slurm_release": tool("slurmd", "slurm-wlm 21.08.1"),
        "kubelet_release": tool("kubelet", "Kubernetes v1.29.0"),
        "slurm_exists": "mkdir -p /etc/slurm && touch /etc/slurm/slurm.conf",
        "kubelet_exists": "mkdir -p /etc/kubernetes && touch /etc/kubernetes/kubelet.conf",
        "cabling": tool("lldpctl", json.dumps(neighbours({"rail2": ["leaf2", "Ethernet7"]}))),
    },
    "gpu02": {
        "gpu_count": "rm /dev/nvidia7",
        "gpu_driver": tool("nvidia-smi", "Failed to initialize NVML: Driver/library version mismatch", code=18),
        "mlnx_qos": tool("mlnx_qos", "ImportError: No module named dcbnetlink", code=1),
        "nic_missing": "ip link set rail3 down && ip link set rail3 name lost3",
        "disk_full": "mount -t tmpfs -o size=8m none /var/spool",
        "kernel_old": "mkdir /lib/modules/99.1.0-new && touch /lib/modules/99.1.0-new/modules.dep",
        "gpfs_layer_missing": "mv /lib/modules/$(uname -r)/extra /run/extra",
        "uid_differs": "sed -i 's/^ada:x:2001:/ada:x:2999:/' /etc/passwd",
        "user_missing": "sed -i '/^ben:/d' /etc/passwd",
        "name_unresolved": "sed -i '/nsd1/d' /etc/hosts",
    },
    "gpu03": {
        "gpu_driver_differs": tool("nvidia-smi", "550.90.07"),
        "gpu_state": "true",  # a tool that prints nothing else shows no state
        "nic_state": kernel("/sys/class/infiniband/mlx5_0/device/current_link_width", "4\\n"),
        "name_is_loopback": "sed -i '1i 127.0.1.1 gpu03' /etc/hosts",
        "hostname_differs": "hostname fresh-image",
        "clock_off": "printf 'import time\\nreal = time.time\\ntime.time = lambda: real() + 400\\n'"
        " >> /etc/python3.13/sitecustomize.py",
        "port_blocked": "true",  # what the firewall of gpu04 does to its neighbour
        "mtu_path": "true",
    },
    "gpu04": {
        "firewall_closed": (
            "iptables -A INPUT -p tcp --dport 22 -j ACCEPT && iptables -A INPUT -p icmp -j ACCEPT"
            " && iptables -A INPUT -p tcp ! --syn -j ACCEPT && iptables -P INPUT DROP && ip link set eth0 mtu 1400"
        ),
    },
    DOWN: {"unreachable": ""},
}
FAULTS = [(name, host) for host, faults in PLANTED.items() for name in faults]


@pytest.fixture(scope="module")
def here() -> Lab:
    return Lab(Paths.of())


@pytest.fixture(scope="module")
def preflight(here: Lab, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Run, dict[str, Any]]]:
    """Run the playbook with a report."""
    path: Path = tmp_path_factory.mktemp("preflight") / "report.json"

    def made(limit: str) -> tuple[Run, dict[str, Any]]:
        run = here.playbook("preflight", "--limit", limit, "-e", f"preflight_report={path}")
        return run, json.loads(path.read_text())

    return made


@pytest.fixture(scope="module")
def faulty(here: Lab, preflight: Any) -> tuple[Run, dict[str, Any]]:
    """A run with all faults."""
    for host in NODES:
        for command in PLANTED[host].values():
            here.ssh(host, command)
    return preflight(f"{BOOTED},{DOWN}")


def by_host(report: dict[str, Any]) -> set[tuple[str, str]]:
    """Findings that are not accepted, by name and host."""
    return {
        (it["name"], host) for it in report["findings"] if not it["accepted"] for host in hostlist.expand(it["hosts"])
    }


def test_sound_hosts_lack_only_cgroup_v2_which_their_inventory_accepts(preflight: Any) -> None:
    run, report = preflight(BOOTED)
    assert run.code == 0, run.output
    assert report["sound"]
    assert {it["name"] for it in report["findings"]} <= {"cgroup_v1"}


@pytest.mark.parametrize(("name", "host"), FAULTS)
def test_a_planted_fault_is_named_on_its_host(faulty: Any, name: str, host: str) -> None:
    assert (name, host) in by_host(faulty[1])


def test_nothing_else_is_named(faulty: Any) -> None:
    """The controller sees what it can't reach, and hosts beside a faulty one see its side."""
    sides = {("port_blocked", "ctl"), ("mtu_path", "gpu04")}
    assert by_host(faulty[1]) - set(FAULTS) <= sides


def test_the_run_fails_with_the_verdict_first(faulty: Any) -> None:
    run, report = faulty
    assert run.code == 2
    [failed] = [result for _, _, result in run.results() if result.get("failed")]
    assert failed["msg"].startswith("Preflight: not sound.")
    assert not report["sound"]


def test_a_host_is_visited_once(faulty: Any) -> None:
    results = [host for name, host, _ in faulty[0].results() if name.endswith("Read what the host has")]
    assert sorted(results) == sorted({*BOOTED.split(","), DOWN})
    others = [host for name, host, _ in faulty[0].results() if "Read what the host has" not in name]
    assert set(others) == {min(others)}, "all else runs once, for the first host"


def test_nothing_was_changed(faulty: Any) -> None:
    assert faulty[0].changed() == []


def test_fresh_hosts_are_sound_again(faulty: Any, preflight: Any) -> None:
    assert not faulty[1]["sound"]
    subprocess.run([sys.executable, str(REPOSITORY / "lab/lab"), "reset", *NODES], check=True, timeout=300)
    run, report = preflight(BOOTED)
    assert (run.code, report["sound"]) == (0, True), run.output

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that is not what its class says: a finding on that node, a drain with both numbers, and the way back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from testinfra.host import Host

from lab.hosts.paths import Paths
from tests.waiting import until

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://gpu02?ssh_config={SSH_CONFIG}&timeout=60"]

ROOT = Path(__file__).resolve().parents[3]
ANSIBLE = str(Path(sys.executable).parent / "ansible")
DROP_IN = "/run/systemd/system/slurmd.service.d/zz-broken.conf"
CLASS = {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2, "memory_mib": 2064384, "gpus": 8}


def module(name: str, arguments: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """Run one of our modules on the node, as the role does."""
    argv = [
        ANSIBLE,
        "gpu02",
        "-i",
        "inventories/lab",
        "-m",
        f"drawbridge.drawbridge.{name}",
        "-a",
        json.dumps(arguments),
    ]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def state(host: Host) -> str:
    """State and reason, without the star of a node whose last answer is a while ago: busy machines show it."""
    return host.check_output("sinfo -h -n gpu02 -o '%T|%E' | sort -u").replace("*|", "|")


def slurmd_sees(variable: str) -> str:
    """A shell line that shows slurmd another machine."""
    return (
        f"mkdir -p {Path(DROP_IN).parent}; printf '[Service]\\nEnvironment={variable}\\n' > {DROP_IN};"
        " systemctl daemon-reload"
    )


HEALED = f"rm -f {DROP_IN}; systemctl daemon-reload"
PATIENCE_S = 300
ONE_SOCKET = "lstopo-no-graphics --input 'pack:1 [numa] core:32 pu:2' --of xml --force /run/lab/one.xml"


@pytest.fixture(autouse=True)
def alone(host: Host) -> Iterator[None]:
    """The node's own health check would find the same, and be the first to say it."""
    look = "/etc/drawbridge/slurm/health.json"
    host.check_output(f"mv {look} {look}.kept")
    until(lambda: host.run("pgrep -f [/]slurm-health").rc == 1, PATIENCE_S, "no look goes on that has read it")
    yield
    host.check_output(f"mv {look}.kept {look}")


@pytest.mark.parametrize(
    ("breaks", "heals", "found"),
    [
        ("rm /dev/nvidia7", "mknod -m 666 /dev/nvidia7 c 195 7", "7 GPUs instead of 8"),
        ("mknod -m 666 /dev/nvidia8 c 195 8", "rm /dev/nvidia8", "9 GPUs instead of 8"),
        (
            f"{ONE_SOCKET}; {slurmd_sees('HWLOC_XMLFILE=/run/lab/one.xml LAB_CPUS=64')}",
            HEALED,
            "1 sockets instead of 2",
        ),
        (slurmd_sees("LAB_MEMORY_KB=2046820352"), HEALED, "1998848 MiB of memory instead of 2064384"),
    ],
    ids=["a GPU less", "a GPU more", "a socket less", "64 GiB less"],
)
def test_a_node_that_differs_is_drained_with_both_numbers_and_comes_back_by_proof(
    host: Host, breaks: str, heals: str, found: str
) -> None:
    reason = f"drawbridge: hardware: {found}"
    host.check_output(breaks)
    try:
        looked = module("slurm_node_hardware", {"name": "gpu02", "machine": CLASS})
    finally:
        host.check_output(heals)
    assert f"gpu02 has {found}; repair the node" in looked.stdout, looked.stdout + looked.stderr
    assert state(host) == f"drained|{reason}"
    ready = module("slurm_node_ready", {"name": "gpu02", "gres": "gpu:h100:8"})
    assert "which has all hardware of its class again" in ready.stdout, ready.stdout + ready.stderr
    assert state(host).partition("|")[0] == "idle"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The node that confines, its jobs, and what they say of themselves."""

from __future__ import annotations

import contextlib
import json
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.hosts.paths import Paths
from tests.running import Lab, Run
from tests.waiting import until

PATIENCE_S = 600
"""The node's processors are emulated, on a machine that may have other things to do."""
LAB = Lab(Paths.of(), ("tests/isolation/inventory",), run_s=3 * 3600, ssh_s=PATIENCE_S)
NODE, RESERVED = "gpu01", {0}
"""The node with a kubelet, and its reserved CPUs, as the inventory has them."""
PROBE = Path(__file__).with_name("probe.py").read_text()
Facts = dict[str, Any]


def build() -> Run:
    """The site without the nodes' Kubernetes: an emulated processor has nothing left beside a kubelet."""
    with tempfile.TemporaryDirectory() as folder:
        LAB.administrator(Path(folder) / "plan", "kube_installer", "kube_policies")
    return LAB.playbook("site", "--extra-vars", "visit_layers=nfs_client,slurm_node")


def here(command: str, check: bool = True, node: str = NODE) -> str:
    """What a command says on the node."""
    return LAB.ssh(node, command, check=check).strip()


def slurm(command: str, stdin: str = "", check: bool = True) -> str:
    """What one of Slurm's commands says to ada."""
    return LAB.ssh("ctl", f"cd /tmp; runuser -u ada -- {command}", check=check, stdin=stdin).strip()


def srun(options: str, program: str, check: bool = True) -> str:
    """What a Python program says in a job of the default partition, which shares nodes."""
    return slurm(f"srun --quiet {options} python3 -c {shlex.quote(program)} 2>&1", check=check)


def probed(options: str) -> Facts:
    """What a job may use."""
    return json.loads(srun(options, PROBE))


@contextlib.contextmanager
def job(options: str, more: str = "exec sleep infinity", node: str = NODE) -> Iterator[tuple[str, Facts]]:
    """A running job: its number, and what it may use. It runs on the node, whose partition the options name."""
    script = f"#!/bin/sh\npython3 -c {shlex.quote(PROBE)}\n{more}\n"
    number = slurm(f"sbatch --parsable --output=/tmp/%j {options}", script)
    try:
        said = until(lambda: here(f"head -n1 /tmp/{number}", node=node), PATIENCE_S, f"job {number} runs")
        yield number, json.loads(said)
    finally:
        end(number)


def end(number: str) -> None:
    """Cancel a job, and wait until nothing of it is left."""
    slurm(f"scancel {number}", check=False)
    until(lambda: not slurm(f"squeue --noheader --job={number} 2>/dev/null || true"), PATIENCE_S, f"{number} ends")


def ended(number: str) -> str:
    """How a job ended, by Slurm's accounting."""
    told = f"sacct --noheader --parsable2 --allocations --format=State --jobs={number}"
    return until(lambda: (state := slurm(told)) not in ("", "PENDING", "RUNNING") and state, PATIENCE_S, "it ended")

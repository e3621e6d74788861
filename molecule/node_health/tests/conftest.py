# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of findings do with hosts of the lab: plant a fault, let nodes look and the controller decide."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from lab.hosts.paths import REPOSITORY
from tests.running import Lab

__all__ = ["Lab"]

OWN = REPOSITORY / "molecule/node_health/inventory"
LIMIT = "ctl,login1,nsd1,gpu01,gpu02,gpu03,gpu04,leaf1,leaf2,spine1,localhost"
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
HEALTH = "drawbridge: health: "
CHECK = "/usr/local/libexec/drawbridge/slurm-health"
LONG_S = 900
"""A boot and its health check on a busy machine."""
# hosts of the lab have the uptime of their machine; with -b slurmd says that it is the first one after a boot
FIRST = """[Service]
ExecStart=
ExecStart=/bin/sh -c 'b=-b; test ! -e /run/booted || b=; touch /run/booted; exec slurmd --systemd $b $SLURMD_OPTIONS'
"""


def plant(*words: str) -> None:
    """Plant a fault in the emulated hardware, or repair all."""
    subprocess.run([sys.executable, "lab/lab", "plant", *words], cwd=REPOSITORY, check=True, capture_output=True)


def look(lab: Lab, *nodes: str) -> None:
    """Nodes check themselves, as slurmd has them do at intervals."""
    for node in nodes or NODES:
        # the check waits for no other: one of slurmd's may run
        lab.ssh(node, f"flock /run/drawbridge/slurm-health.lock true; SLURMD_NODENAME={node} {CHECK}")


def tend(lab: Lab) -> None:
    """The controller decides, as its timer has it do."""
    lab.ssh("ctl", "drawbridge-health tend")


def reasons(lab: Lab) -> dict[str, str]:
    """Reasons of nodes that get no jobs."""
    lines = lab.ssh("ctl", "sinfo --noheader --Node --format='%N|%t|%E'").splitlines()
    return {
        node: why
        for node, state, why in (line.split("|") for line in lines)
        if state.startswith(("drain", "drng", "down"))
    }


def comment(lab: Lab, node: str) -> str:
    """The line of a node's report; empty for none."""
    shown = lab.ssh("ctl", f"scontrol show node {node}")
    return next((line.strip() for line in shown.splitlines() if line.strip().startswith("Comment=")), "")


def shown(lab: Lab, *words: str) -> dict[str, Any]:
    """What the controller's program shows."""
    return json.loads(lab.ssh("ctl", f"drawbridge-health show --json {' '.join(words)}", check=False))


def says_when_it_boots(lab: Lab, node: str) -> None:
    """Let slurmd report each boot of this node, as it does on a machine of its own."""
    drop_in = "/etc/systemd/system/slurmd.service.d/99-lab.conf"
    lab.ssh(node, f"touch /run/booted; cat > {drop_in}; systemctl daemon-reload", stdin=FIRST)


def boot_id(lab: Lab, node: str) -> str:
    """The identity of a node's boot; empty while it does not answer."""
    return lab.ssh(node, "cat /proc/sys/kernel/random/boot_id", check=False)

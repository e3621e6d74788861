# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's site with its spares: 16 nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from bench.counted import ROOT
from tests.growth import grow

SPARES = [f"gpu{number:02}" for number in range(5, 17)]
JOURNAL = "/var/lib/lab/gpfs/journal.jsonl"
NODES = [f"gpu{number:02}" for number in range(1, 17)]
PLAYBOOKS = ("playbooks/check.yml", "playbooks/parts/visit_nodes.yml")
"""A visit of the nodes that --limit names."""
ANSIBLE = str(Path(sys.executable).parent / "ansible-playbook")


def command(*argv: str) -> str:
    """Output of a command. Leaves with it if the command fails."""
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}{' '.join(argv[:6])} failed")
    return done.stdout


def built(folder: Path) -> list[str]:
    """Boot all nodes, build the site on them, and return Ansible's words for this inventory."""
    words = grow(folder / "grown", *SPARES)
    unwatched(folder / "grown/group_vars/all.yml")
    command(sys.executable, "lab/lab", "up")
    command(sys.executable, "lab/lab", "up", *SPARES)
    command(sys.executable, "lab/lab", "administrator")
    command(ANSIBLE, *words, "playbooks/site.yml")
    joined()
    return words


def unwatched(intent: Path) -> None:
    """Let Slurm start no health checks: those of 16 hosts at once would be most of the measured time."""
    content = yaml.safe_load(intent.read_text())
    content["drawbridge_slurm"].setdefault("health", {})["interval_s"] = 0
    intent.write_text(json.dumps(content))


def munge_key(folder: Path) -> Path:
    """A file with the variable that a visit of nodes alone needs."""
    key = folder / "key.json"
    if not key.exists():
        key.touch(0o600)
        munge = command(sys.executable, "lab/lab", "ssh", NODES[0], "base64 -w0 /etc/munge/munge.key").strip()
        key.write_text(json.dumps({"slurm_node_munge_key": munge}))
    return key


def joined() -> None:
    """Leave unless all nodes have joined GPFS by one mmaddnode, and no command of GPFS that writes has failed."""
    for host in ("nsd1", *NODES):
        text = command(sys.executable, "lab/lab", "ssh", host, f"cat {JOURNAL}")
        calls = [call for call in map(json.loads, text.splitlines()) if call["writes"]]
        failed = [call["argv"] for call in calls if call["rc"]]
        added = [call["tool"] for call in calls].count("mmaddnode")
        if failed or added != (host == "nsd1"):
            sys.exit(f"{host}: mmaddnode ran {added} times, and these calls failed: {failed}")

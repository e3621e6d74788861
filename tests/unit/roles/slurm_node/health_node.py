# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node as a folder, on which slurm-health runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEALTH = Path(__file__).parents[4] / "roles/slurm_node/files/slurm-health.py"


class Node:
    """A node with two GPUs and stand-ins for the commands that the health check asks."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked = root, root / "asked"
        (root / "bin").mkdir()
        (root / "dev").mkdir()
        (root / "health.d").mkdir()
        self.gpus(2)
        self.look(["/proc"])
        self.command("munge", "echo credential")
        self.command("unmunge", "read it; test credential = $it")
        self.command("nvidia-smi", "echo 'GPU 0: H100'; echo 'GPU 1: H100'")
        self.slurm("IDLE")

    def look(self, mounts: Iterable[str], gpus: int = 2, **more: Any) -> None:
        listing = {"command": ["nvidia-smi", "--list-gpus"], "line": "GPU ", "instance": r"\s+MIG (\S+)\s+Device "}
        look = {
            "mounts": [*mounts],
            "gpus": gpus,
            "gpu_files": str(self.root / "dev/nvidia"),
            "gpu_list": listing,
            **more,
        }
        (self.root / "health.json").write_text(json.dumps(look))

    def gpus(self, count: int) -> None:
        for name in ("nvidiactl", *(f"nvidia{index}" for index in range(count))):
            (self.root / "dev" / name).touch()

    def command(self, name: str, body: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def slurm(self, state: str, reason: str = "") -> None:
        """Both show this record as in tests/transcripts/slurm/record_24.11.txt, which real ones printed."""
        why = f" Reason={reason} [root@2026-11-21T11:09:31]" if reason else ""
        self.command("scontrol", f'echo "$*" >> {self.asked}; echo "NodeName=gpu01 State={state} OS=Linux{why}"')
        self.listing(f"{state.lower()} {reason or 'none'}\n")

    def listing(self, text: str) -> None:
        (self.root / "listing").write_text(text)
        self.command("sinfo", f'echo "sinfo $5" >> {self.asked}; exec cat {self.root}/listing')

    def start(self, *options: str) -> subprocess.Popen[str]:
        env = {"PATH": "/nowhere", "SLURMD_NODENAME": "gpu01"}
        path = f"{self.root}/bin:{os.environ['PATH']}"
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        places = ("--place", str(self.root), "--run", str(self.root / "run"), "--path", path)
        argv = [sys.executable, str(HEALTH), *places, *options]
        return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *options: str) -> tuple[int, str]:
        with self.start(*options) as look:
            out, err = look.communicate(timeout=300)
        return look.returncode, out.strip() + err

    def told(self) -> list[str]:
        """The changes that Slurm got."""
        asked = self.asked.read_text().splitlines() if self.asked.exists() else []
        return [line for line in asked if "update" in line]

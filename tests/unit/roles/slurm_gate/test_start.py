# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What every job pays before anything is done: the program's start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).resolve().parents[4] / "roles/slurm_gate/files"
HEAVY = {
    *("subprocess", "concurrent.futures", "logging", "shutil", "traceback", "asyncio", "xml", "site"),
    *("dataclasses", "inspect"),
}


def test_nothing_heavy_is_on_a_jobs_way() -> None:
    """Each of these costs milliseconds of processor on every node of every job."""
    show = "import sys; sys.path.insert(0, sys.argv[1]); import gate.__main__; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-IS", "-c", show, str(FILES)], capture_output=True, text=True, check=True)
    assert "http.client" in said.stdout.split()
    assert not HEAVY & set(said.stdout.split())


def test_the_launcher_starts_it_without_packages_of_the_host() -> None:
    placed = (FILES.parent / "tasks/main.yml").read_text()
    assert re.search(r"source: launcher.py\n +run_by: /usr/bin/python3 -IS\n", placed)

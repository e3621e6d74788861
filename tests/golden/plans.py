# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What playbooks/plan.yml writes for an inventory, and how that differs from what it should write."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "tests/golden"
SITES = sorted(path.parent.name for path in ROOT.glob("inventories/*/hosts.yml"))
SCRIPTS = ("slurm_controller/etc/slurm/cli_filter.lua", "slurm_controller/etc/slurm/job_submit.lua")
LEFT_OUT = {
    (site, name) for site in SITES if site != "example-rails" for name in ("kubernetes/slurm_gate.yml", *SCRIPTS)
}
"""Files that hardly depend on the site: those of one site are enough."""
FOREIGN = ("LAB_", "ANSIBLE_", "KUBECONFIG")
"""Variables of a person's shell that inventories or Ansible would read."""


def write(inventory: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run plan.yml."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    program = str(Path(sys.executable).parent / "ansible-playbook")
    words = [program, "-i", str(inventory), "playbooks/plan.yml", "-e", f"plan_into={folder}", *more]
    env |= {"LAB_ID": "1", "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def files(folder: Path) -> dict[str, str]:
    """Text by path."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def difference(before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """A unified diff of two folders."""
    for path in sorted({*before, *after}):
        old, new = (content.get(path, "").splitlines() for content in (before, after))
        yield from difflib.unified_diff(old, new, path, path, lineterm="")


def planned(inventory: Path, folder: Path) -> dict[str, str]:
    """What plan.yml has written, seen to succeed."""
    done = write(inventory, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: text for name, text in files(folder).items() if (inventory.name, name) not in LEFT_OUT}


def copied(tmp_path: Path, *changes: tuple[str, str, str], site: str = "example-rails") -> Path:
    """An example site with other texts in its files."""
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / site, inventory)
    for name, old, new in changes:
        path = inventory / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return inventory

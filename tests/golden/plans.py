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
WHOLE = ("example-existing", "example-mixed", "example-rails")
"""Sites whose whole plan is kept; of others, what none of these has: other switches, other software."""
ALIKE = {
    "kubernetes/slurm_gate.yml": (),
    "kubernetes/gpu-operator.values.yml": (),
    "kubernetes/kube_installer.yml": ("example-existing",),
    "kubernetes/kube_policies.yml": (),
    "slurm_controller/etc/slurm/cli_filter.lua": (),
    "slurm_controller/etc/slurm/job_submit.lua": (),
}
"""Files that hardly depend on the site: those of example-rails are enough, and of the sites that are named."""
OF_GPUS = {
    "slurm_controller/etc/slurm/gres.conf": ("example-mi300x", "example-slices"),
    "slurm_controller/etc/slurm/slurm.conf": ("example-slices",),
}
"""Files that another vendor's GPUs or instances change, and their sites."""
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


def kept(site: str, name: str) -> bool:
    """Whether a file of a site's plan is one of those that are compared."""
    if site in WHOLE:
        return site in ("example-rails", *ALIKE.get(name, WHOLE))
    if site in OF_GPUS.get(name, ()):
        return True
    return name.startswith("switches/") or not any((HOME / other / name).exists() for other in WHOLE)


def planned(inventory: Path, folder: Path) -> dict[str, str]:
    """What plan.yml has written, seen to succeed."""
    done = write(inventory, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return files(folder)


def copied(tmp_path: Path, *changes: tuple[str, str, str], site: str = "example-rails") -> Path:
    """An example site with other texts in its files."""
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / site, inventory)
    for name, old, new in changes:
        path = inventory / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return inventory

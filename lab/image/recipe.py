# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the image is made of: the packages, the builder's command, and the key under which the result is cached."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent

# Files that shape no image: they only use the recipe.
NOT_RECIPE = {"build.py", "__init__.py"}

Packages = dict[str, Any]


def packages(here: Path = HERE) -> Packages:
    """packages.yml: `suite`, `components` of the archive, `tree` (names), `repository` (names)."""
    return yaml.safe_load((here / "packages.yml").read_text())


def key(here: Path = HERE) -> str:
    """Sixteen hex digits that change when any file that shapes the image changes."""
    digest = hashlib.sha256()
    for path in sorted(p for p in here.rglob("*") if p.is_file() and p.suffix != ".pyc" and p.name not in NOT_RECIPE):
        digest.update(f"{path.relative_to(here)}\0{path.stat().st_mode & 0o111:o}\0".encode())
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def builder(recipe: Packages, tree: Path) -> list[str]:
    """mmdebstrap(1) for one tree. LAB_MIRROR names a package mirror other than the builder's own choice."""
    mirror = os.environ.get("LAB_MIRROR")
    return [
        *("mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"),
        *("--include=" + ",".join(recipe["tree"]), '--aptopt=APT::Install-Recommends "false"'),
        *('--aptopt=Acquire::Languages "none"', f"--dpkgopt={HERE}/files/etc/dpkg/dpkg.cfg.d/lab"),
        f"--components={','.join(recipe['components'])}",
        *(f"--customize-hook={HERE}/customize", recipe["suite"], str(tree)),
        *([mirror] if mirror else []),
    ]

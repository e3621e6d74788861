# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which files run on nodes, and which tests are theirs: found by following imports, so that no list can fall behind."""

from __future__ import annotations

from pathlib import Path

from tests.collection.payloads import NODE_MODULES
from tests.conformance.test_habits import MIRRORED, mirror, reached
from tests.conformance.tree import ROOT


def shipped() -> list[Path]:
    """Modules with all that they import, and the Python programs that roles copy to hosts."""
    modules = {file for name in NODE_MODULES for file in reached(ROOT / f"library/{name}.py")}
    programs = {path.resolve() for path in (ROOT / "roles").glob("*/files/**/*.py")}
    return sorted(modules | programs)


def tests() -> list[Path]:
    """Test files of the shipped code; modules and programs have whole folders of them."""
    utilities = {mirror(path) for path in set(shipped()) & set(MIRRORED)}
    folders = [ROOT / "tests/unit/library", ROOT / "tests/unit/roles"]
    return sorted(utilities | {path for folder in folders for path in folder.rglob("test_*.py")})


def fixtures() -> list[str]:
    """Modules that hold what these tests share; what stands above their folders needs the controller's libraries."""
    folders = {path.parent for path in tests()}
    found = {folder / "conftest.py" for folder in folders if (folder / "conftest.py").is_file()}
    return sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found)

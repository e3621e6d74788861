# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with the driver's ports, the collection's module, and steps to take there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ansible

from lab.hosts.paths import REPOSITORY
from tests.dcb import build
from tests.guest import boot

HERE = Path(__file__).parent
COLLECTION = "ansible_collections/drawbridge/drawbridge/plugins"
PYTHON_ONLY = shutil.ignore_patterns("__pycache__")

Step = list[str] | dict[str, Any]


def run(folder: Path, steps: Mapping[str, Step]) -> dict[str, Any]:
    """Take the steps one after another in one guest; their results by name."""
    system = boot.debian()
    layer = folder / "layer"
    place(layer / "srv/dcb", steps)
    shutil.copy(build.driver(system), layer / "srv/dcb/dcb_ports.ko")
    results = folder / "results"
    above = replace(system, layers=(layer, *system.layers))
    guest = boot.start(above, folder / "guest", HERE / "ports.sh", devices=("-serial", f"file:{results}"))
    boot.end(guest, patience_s=boot.LIMIT_S)
    printed = results.read_text()
    assert printed, (folder / "guest/console").read_text()
    return dict(zip(steps, json.loads(printed), strict=True))


def place(target: Path, steps: Mapping[str, Step]) -> None:
    """Write the steps, the module with all that it imports, and the program that takes the steps."""
    ours = Path(ansible.__path__[0])
    shutil.copytree(ours / "module_utils", target / "ansible/module_utils", ignore=PYTHON_ONLY)
    shutil.copy(ours / "release.py", target / "ansible")
    (target / "ansible/__init__.py").touch()
    plugins = target / COLLECTION
    shutil.copytree(REPOSITORY / "module_utils", plugins / "module_utils", ignore=PYTHON_ONLY)
    (plugins / "modules").mkdir()
    shutil.copy(REPOSITORY / "library/mlnx_qos.py", plugins / "modules")
    shutil.copy(HERE / "take.py", target)
    (target / "steps.json").write_text(json.dumps(list(steps.values())))

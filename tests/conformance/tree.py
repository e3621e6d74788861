# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where things are, for the tests that hold the tree against itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path for path in (ROOT / "library").glob("*.py"))
ACTIONS = sorted(path for path in (ROOT / "plugins/action").glob("*.py"))
CALLBACKS = sorted(path for path in (ROOT / "plugins/callback").glob("*.py"))
FILTERS = sorted(path for path in (ROOT / "filter_plugins").glob("*.py"))
FILTER_PAGES = sorted([*(ROOT / "filter_plugins").glob("hostlist_*.py"), *(ROOT / "filter_plugins").glob("*.yml")])
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
PLAYBOOKS = sorted((ROOT / "playbooks").rglob("*.yml"))
"""Those that people run, and in parts/ what these are made of."""
FOLDERS = (
    "library",
    "module_utils",
    "filter_plugins",
    "plugins/action",
    "plugins/plugin_utils",
    "plugins/callback",
    "roles",
    "lab",
    "docs",
    "bench",
    "tests",
)


def is_program(path: Path) -> bool:
    """Whether this is Python that only its first line says so of."""
    return not path.suffix and path.is_file() and re.match(rb"#!.*\bpython", path.read_bytes()) is not None


PROGRAMS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if is_program(path))
PYTHON = sorted([*PROGRAMS, *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))])


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def examples(role: Path) -> list[dict[str, Any]]:
    """The plays that a role's README shows."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (role / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    contents = [yaml.safe_load(block) for block in blocks]
    return [play for content in contents if isinstance(content, list) for play in content if "hosts" in play]


def tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of a task file or playbook, blocks opened up."""
    content = yaml.safe_load(path.read_text()) or []
    found: list[dict[str, Any]] = []
    queue = list(content)
    while queue:
        item = queue.pop(0)
        inner = [
            task
            for key in ("block", "rescue", "always", "tasks", "pre_tasks", "post_tasks", "handlers")
            for task in item.get(key) or []
        ]
        if inner:
            queue = inner + queue
        if "hosts" not in item and "block" not in item:
            found.append(item)
    return found


def task_files() -> list[Path]:
    return [
        path for role in ROLES for folder in ("tasks", "handlers") for path in sorted((role / folder).rglob("*.yml"))
    ]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What projects cost a run: `PYTHONPATH=collections:. python -m bench.projects`. Needs no lab, a minute.

It measures 100, 1,000 and 10,000 projects in variables of their own, in this process. The check of the intent comes
first, then the views of the controller, of an admin host of Storage Scale and of a node. At last one project changes,
and the plan of filesets counts its commands. Writes bench/measured/projects.md.

Ends with 1 if a project costs twice as much among 10,000 as among 100, or if a node's view costs 0.1 s. It also does if
the change of one project needs commands for another.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import compose
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import viewed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets import (
    layer,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Consents,
    FilesetsState,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.plan import plan

from bench.results import store
from tests.unit.module_utils.site.test_refused import site

SIZES, TURNS, MOST, TODAY = (100, 1_000, 10_000), 3, 2.0, "2027-01-01"
NODE_MS = 100.0
"""A node's view reads no project, but the names of all variables."""
VIEWS = {
    "slurm_controller": ("ctl", {"cgroups": True}),
    "project_storage": ("nsd1", {"today": TODAY}),
    "slurm_node": ("gpu01", {"cgroups": True}),
}


@dataclass(frozen=True)
class Cost:
    """Processor seconds by kind of work."""

    seconds: dict[str, float]
    changed: int
    """Commands for a project that changes."""


def project(number: int, inodes: int = 1000) -> dict[str, Any]:
    """One project with all parts."""
    return {
        **{"name": f"p{number}", "users": ["ada"], "groups": ["vision"], "partitions": ["ai-train"]},
        **{"budget": {"gpu_hours": 100, "period": "month"}, "claims": [{"name": "work"}]},
        "directory": {"quota_gib": 10, "inodes": inodes},
    }


def variables(count: int) -> dict[str, Any]:
    """The lab's site with so many projects."""
    own = {f"drawbridge_project_p{number}": project(number) for number in range(count)}
    return {**site("lab"), "drawbridge_projects": {"filesystem": "/gpfs/fs1"}, **own}


def spent(work: Callable[[], object]) -> float:
    """The least processor seconds of some turns, each without what the one before kept."""
    found = []
    for _turn in range(TURNS):
        compose.KEPT.clear()
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return statistics.median(found)


def commands(filesets: list[dict[str, Any]]) -> int:
    """Commands of a run in which one project gets more inodes."""
    options = {"mount": "/gpfs/fs1", "filesets": [layer_row(it) for it in filesets]}
    have = layer.wanted(options)
    first, *others = options["filesets"]
    want = layer.wanted({**options, "filesets": [{**first, "inode_limit": 2000}, *others]})
    # all of it is there, but for the change
    return len(plan(FilesetsState(have.filesets, have.parents), want, Consents("fs1")))


def layer_row(fileset: dict[str, Any]) -> dict[str, Any]:
    """A row of mm_fileset with its defaults."""
    return {"comment": "", "inode_prealloc": 0, **fileset}


def measured(count: int) -> Cost:
    """The cost of so many projects."""
    raw = variables(count)
    seconds = {"check": spent(lambda: load(raw))}
    for name, (host, given) in VIEWS.items():
        here = {**raw, "inventory_hostname": host}
        seconds[name] = spent(lambda name=name, here=here, given=given: viewed(name, here, given))
    [filesystem] = viewed("project_storage", raw, {"today": TODAY})["filesystems"]
    return Cost(seconds, commands(filesystem["filesets"]))


def main() -> int:
    """Measure, store, judge."""
    found = {count: measured(count) for count in SIZES}
    small, large = found[SIZES[0]], found[SIZES[-1]]
    names = ("check", *VIEWS)
    rows = []
    for name in names:
        each = [f"{found[count].seconds[name]:.3f}" for count in SIZES]
        per = large.seconds[name] / SIZES[-1] / max(small.seconds[name] / SIZES[0], 1e-9)
        rows.append(f"| {name} | {' | '.join(each)} | {per:.2f} |")
    sizes = " | ".join(f"{count:,} projects" for count in SIZES)
    head = f"| processor seconds of | {sizes} | per project, times that of {SIZES[0]} |"
    table = "\n".join([head, "|---|" + "---|" * (len(SIZES) + 1), *rows])
    made = f"Made by `python -m bench.projects`; medians of {TURNS} turns."
    one = f"A change of one project among {SIZES[-1]:,} needs {large.changed} command in Storage Scale."
    data = {str(count): {**cost.seconds, "commands": float(cost.changed)} for count, cost in found.items()}
    store("projects", data, f"# What projects cost a run\n\n{made}\n\n{table}\n\n{one}\n")
    grows = any(
        large.seconds[name] / SIZES[-1] > MOST * small.seconds[name] / SIZES[0]
        for name in names
        if name != "slurm_node"
    )
    costs = 1000 * (large.seconds["slurm_node"] - small.seconds["slurm_node"]) > NODE_MS
    return 1 if grows or costs or large.changed != 1 else 0


if __name__ == "__main__":
    sys.exit(main())

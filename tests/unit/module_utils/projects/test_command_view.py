# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the command on controllers and login hosts knows of projects."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.command_view import (
    project_command,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.model import Project, Projects
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import Budget

from roles.drawbridge_status.files.project.site_io import site as read
from tests.unit.module_utils.lab import GPFS, SLURM
from tests.unit.module_utils.site.test_refused import patched

WHOLE: dict[str, Any] = {
    "filesystem": "/gpfs/fs1",
    "data": [{"name": "imagenet", "path": "/gpfs/fs1/data/imagenet"}],
    "images": {"allow": ["nvcr.io/nvidia"], "digests_only": True},
    "projects": [
        {
            **{"name": "protein", "users": ["ada", "ben"], "groups": ["vision"], "partitions": ["ai-train"]},
            **{"budget": {"gpu_hours": 100, "period": "month"}, "ends": "2099-03-31", "total": {"gpus": 64}},
            **{"directory": {"quota_gib": 1024, "inodes": 1000000}, "claims": [{"name": "files"}]},
            "data": ["imagenet"],
        },
        {"name": "bio", "partitions": ["hpc"], "state": "closed", "submits": 0},
        {"name": "old", "state": "archived", "budget": {"gpu_hours": 5}, "qos": ["normal"]},
    ],
}
MANY = 500


def shown(whole: dict[str, Any] = WHOLE) -> list[dict[str, Any]]:
    intent = load(patched({"drawbridge_projects": whole}))
    text = project_command(intent.slurm, intent.projects, {"gpfs": GPFS})["lines"]
    return [json.loads(line) for line in text.splitlines()]


def test_a_site_without_projects_has_no_lines() -> None:
    assert project_command(SLURM, None, {"gpfs": GPFS}) == {"lines": ""}
    assert project_command(SLURM, Projects(), {}) == {"lines": ""}


def test_the_first_line_is_what_projects_share_and_the_others_are_in_the_order_of_names() -> None:
    head, *rows = shown()
    assert head == {
        "version": 1,
        "cluster": "lab",
        "data": {"imagenet": "/gpfs/fs1/data/imagenet"},
        "images": {"allow": ["nvcr.io/nvidia"], "digests_only": True},
    }
    assert [row["name"] for row in rows] == ["bio", "old", "protein"]


def test_a_project_has_what_differs_from_the_defaults() -> None:
    _head, bio, old, protein = shown()
    assert bio == {"name": "bio", "state": "closed", "partitions": ["hpc"], "submits": 0, "namespace": "bio"}
    assert old == {
        **{"name": "old", "state": "archived", "budget": {"gpu_hours": 5}},
        **{"qos": ["project-old"], "like": "normal"},
    }
    assert protein == {
        **{"name": "protein", "ends": "2099-03-31", "partitions": ["ai-train"], "namespace": "protein"},
        **{"budget": {"gpu_hours": 100, "period": "month"}, "qos": ["project-protein"], "like": "normal"},
        **{"claims": [{"name": "files"}], "data": ["imagenet"], "total": {"gpus": 64}},
        "directory": {
            **{"path": "/gpfs/fs1/projects/protein", "mount": "/gpfs/fs1", "owner": "root", "group": "vision"},
            **{"mode": "2770", "quota_gib": 1024, "inodes": 1000000, "fileset": True},
        },
    }


def test_people_and_nodes_are_not_in_it() -> None:
    """All users of the host can read it, and nodes that join or leave don't change it."""
    text = json.dumps(shown())
    assert "ada" not in text and "ben" not in text and "gpu0" not in text


def test_the_command_reads_what_the_view_writes(tmp_path: Any) -> None:
    file = tmp_path / "projects.json"
    file.write_text("".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in shown()))
    found = {it.name: it for it in read(file=file).projects}
    assert found["protein"].own_qos == "project-protein" and found["protein"].period == "month"
    assert found["protein"].directory and found["protein"].directory.fileset
    assert found["bio"].submits == 0 and not found["old"].has_account


def many() -> Projects:
    one = load(patched({"drawbridge_projects": WHOLE})).projects or Projects()
    first: Project = one.projects[0]
    return replace(one, projects=tuple(replace(first, name=f"protein{number}") for number in range(MANY)))


def test_a_project_is_half_a_kilobyte_and_a_change_of_one_changes_its_line(tmp_path: Any) -> None:
    projects = many()
    text = project_command(SLURM, projects, {"gpfs": GPFS})["lines"]
    assert len(text) < 500 * MANY
    changed = replace(projects.projects[47], budget=Budget(gpu_hours=7))
    others = (*projects.projects[:47], changed, *projects.projects[48:])
    lines, after = text.splitlines(), project_command(SLURM, replace(projects, projects=others), {"gpfs": GPFS})
    [place] = [at for at, pair in enumerate(zip(lines, after["lines"].splitlines())) if pair[0] != pair[1]]
    assert '"name":"protein47"' in lines[place]
    file = tmp_path / "projects.json"
    file.write_text(text)
    assert [it.name for it in read(("protein47",), file).projects] == ["protein47"]

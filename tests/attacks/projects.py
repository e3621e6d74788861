# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects of the scene: what an administrator allows them once, and what a run makes of them without one."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.accounts import project_accounts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.module_utils.site.test_refused import site

Json = dict[str, Any]

PARTITIONS = {"partitions": ["ai-train"], "groups": ["people"], "directory": {}}
OF_TEAM = "reg.example/team"
IMAGE = f"{OF_TEAM}/x@sha256:{'0' * 64}"
PROJECTS = part(
    "projects",
    {
        "filesystem": "/gpfs/fs1",
        "images": {"allow": [OF_TEAM, "reg.example:5000"], "digests_only": True},
        "data": [{"name": "imagenet", "path": "/gpfs/fs2/imagenet"}],
        "projects": [
            {
                **PARTITIONS,
                "name": "atlas",
                "claims": [{"name": "scratch"}, {"name": "results", "read_only": True}],
                "data": ["imagenet"],
                "mounts": ["/lake"],
            },
            {**PARTITIONS, "name": "boreas_2", "claims": [{"name": "scratch"}, {"name": "own"}]},
            {**PARTITIONS, "name": "cygnus", "namespace": "swan"},
        ],
    },
)
SLURM = project_accounts(part("slurm", site("lab")["drawbridge_slurm"]), PROJECTS)
SPACES = ("atlas", "boreas-2", "swan")


def moved(body: Json, space: str) -> Json:
    """A body of namespace vision in another one, where its pods have images that projects may have."""
    if space not in SPACES:
        return body
    text = json.dumps(body).replace('"vision.', f'"{space}.').replace('"image": "x"', f'"image": "{IMAGE}"')
    return json.loads(text)

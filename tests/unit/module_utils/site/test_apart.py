# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of nodes know nothing of projects: a new project neither changes a node nor costs its visit anything."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import APART, needed, reads
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import VIEWS, viewed

from tests.unit.module_utils.site.test_refused import site

OF_NODES: dict[str, dict[str, Any]] = {
    "nic": {},
    "slurm_node": {"cgroups": True},
    "node_layers": {},
    "gpfs_client": {},
    "kube_node": {},
    "kubelet": {},
    "node_looks": {},
    "preflight": {},
    "gate": {},
    "drawbridge_run": {},
}
PROJECT = {
    **{"name": "bio", "users": ["dan"], "partitions": ["hpc"], "budget": {"gpu_hours": 5}},
    **{"directory": {"group": "chem", "filesystem": "/gpfs/fs1"}, "claims": [{"name": "work"}]},
}


def unread(raw: Any) -> Any:
    """What templates a project must not be evaluated on a node."""
    if raw is PROJECT:
        raise AssertionError
    return raw


@pytest.mark.parametrize("name", OF_NODES)
def test_a_new_project_changes_nothing_on_nodes(name: str) -> None:
    here = {**site("lab"), "inventory_hostname": "gpu01"}
    before = viewed(name, here, OF_NODES[name])
    assert viewed(name, {**here, "drawbridge_project_bio": PROJECT}, OF_NODES[name], unread) == before


def test_views_that_leave_projects_out_need_no_domain_of_theirs() -> None:
    for view in APART:
        assert "projects" not in needed(reads(view), without=APART[view]), view.__name__
    assert "projects" in needed(reads(VIEWS["slurm_controller"]))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The role's manifests, as the lab's administrator applies them."""

from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import names
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import NAMESPACE

from lab.kubernetes import installer
from lab.kubernetes.installer import POLICIES, RIGHTS, sources
from tests.unit.module_utils.site.test_refused import patched

__all__ = ["DRIVER", "rendered", "sources"]
Json = dict[str, Any]
DRIVER: Json = {
    "release": "3.0.0",
    "cluster": {"id": "1", "gui": [{"host": "gui1"}], "ca": ""},
    "classes": [{"name": name, "filesystem": "fs1", "gid": 3001} for name in ("fast", "slow", "gone")],
}
"""The driver of the scene's file systems."""
DIVIDED = {
    "drawbridge_nodes.classes.h100.gpus.product": "NVIDIA H100 80GB HBM3",
    "drawbridge_nodes.classes.h100.gpus.mig": {"layout": {"3g.40gb": 1, "1g.10gb": 3}},
    "drawbridge_kube.gpu_operator.mig_strategy": "mixed",
}
"""Instances of the GPUs of some nodes, which pods request by names of their own."""


def rendered(texts: dict[str, str] | None = None, projects: bool = True) -> list[Json]:
    """Every object that is the same at all sites with projects, in its order; also from templates with a defect."""
    described = patched(DIVIDED)
    kube, nodes = (part(it, described[f"drawbridge_{it}"]) for it in ("kube", "nodes"))
    called = names(kube, nodes, projects, [NAMESPACE] if projects else [])
    return [it for kind in (RIGHTS, POLICIES) for it in installer.rendered(kind, called, texts)]

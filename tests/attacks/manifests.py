# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The role's manifests, as the lab's administrator applies them."""

from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import names

from lab.kubernetes import installer
from lab.kubernetes.installer import POLICIES, RIGHTS, sources
from tests.unit.module_utils.site.test_refused import site

__all__ = ["rendered", "sources"]
Json = dict[str, Any]


def rendered(texts: dict[str, str] | None = None, projects: bool = True) -> list[Json]:
    """Every object that is the same at all sites with projects, in its order; also from templates with a defect."""
    described = site("lab")
    called = names(part("kube", described["drawbridge_kube"]), part("nodes", described["drawbridge_nodes"]), projects)
    return [it for kind in (RIGHTS, POLICIES) for it in installer.rendered(kind, called, texts)]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's intent, for tests of views."""

from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, SLURM, GPFS = (part(name, SITE[f"drawbridge_{name}"]) for name in ("nodes", "slurm", "gpfs"))


def kube(**change: Any) -> Any:
    """Its part for Kubernetes, with other words."""
    return part("kube", {**SITE["drawbridge_kube"], **change})


KUBE = kube()

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.capacity_view import capacity

from tests.unit.module_utils.lab import KUBE, SLURM


def test_the_labs_infra_capacity() -> None:
    assert capacity(SLURM, KUBE) == {
        "infra": ["infra1"],
        "gated": ["gpu01", "gpu02", "gpu03", "gpu04"],
        "job_namespaces": ["vision", "speech", "chem"],
    }

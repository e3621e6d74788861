# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.status_view import drawbridge_status

from tests.unit.module_utils.lab import SLURM


def test_a_host_knows_gated_partitions_and_no_nodes() -> None:
    assert drawbridge_status(SLURM) == {"gated": ["ai-train"]}

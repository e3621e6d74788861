# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.run_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["run_view"]


def test_raw_variables_go_in() -> None:
    parts = (SITE[f"drawbridge_{domain}"] for domain in ("slurm", "gpfs", "kube", "nodes"))
    assert VIEW(*parts, "gpu04")["gpu_resource"] == "nvidia.com/gpu"


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_slurm"):
        VIEW({}, SITE["drawbridge_gpfs"], SITE["drawbridge_kube"], SITE["drawbridge_nodes"], "gpu04")

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.gate_objects_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["gate_objects_view"]


def test_raw_variables_go_in() -> None:
    found = VIEW(SITE["drawbridge_slurm"], SITE["drawbridge_gpfs"], SITE["drawbridge_kube"], SITE["drawbridge_nodes"])
    assert found["namespaces"][-1]["metadata"]["name"] == "kube-system"
    assert found["accounts"][1]["metadata"]["name"] == "opener"
    assert found["nodes"] == ["gpu01", "gpu02", "gpu03", "gpu04"]
    assert found["names"]["taint"] == "drawbridge.io/slurm"


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_gpfs"):
        VIEW(SITE["drawbridge_slurm"], {}, SITE["drawbridge_kube"], SITE["drawbridge_nodes"])

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.mirror_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("example-h100")
VIEW = FilterModule().filters()["mirror_view"]


def test_raw_variables_go_in() -> None:
    found = VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_kube"], SITE["drawbridge_slurm"])
    assert found["charts"][0]["version"] == "v26.7.0"


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_kube"):
        VIEW(SITE["drawbridge_nodes"], {}, SITE["drawbridge_slurm"])

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.kubelet_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["kubelet_view"]


def test_raw_variables_go_in() -> None:
    view = VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_kube"], "gpu04")
    assert view["config"]["memoryManagerPolicy"] == "Static"


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match="gpu99"):
        VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_kube"], "gpu99")

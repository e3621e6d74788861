# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.kube_node_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

KUBE = site("lab")["drawbridge_kube"]
VIEW = FilterModule().filters()["kube_node_view"]


def test_raw_variables_go_in() -> None:
    assert VIEW(KUBE)["join"] is True
    assert VIEW({**KUBE, "join": "site"})["join"] is False


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match=r"drawbridge_kube\.join"):
        VIEW({**KUBE, "join": "maybe"})

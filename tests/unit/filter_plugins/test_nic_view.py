# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.nic_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["nic_view"]


def test_the_door_takes_raw_variables() -> None:
    view = VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_fabric"], "gpu01")
    assert view["lossless_priorities"] == [3]


def test_a_broken_description_is_told_as_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_fabric is missing, but nothing can be built without it"):
        VIEW(SITE["drawbridge_nodes"], None, "gpu01")

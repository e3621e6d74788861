# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.switch_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

VIEW = FilterModule().filters()["switch_view"]


def test_the_door_takes_raw_variables() -> None:
    assert VIEW(site("lab")["drawbridge_fabric"], "spine1")["asic"] == "jericho"


@pytest.mark.parametrize(
    ("raw", "name", "sentence"),
    [
        (None, "leaf1", "drawbridge_fabric is missing, but nothing can be built without it"),
        (site("lab")["drawbridge_fabric"], "gpu01", "none of them is gpu01"),
    ],
)
def test_a_broken_description_is_told_as_one_sentence(raw: object, name: str, sentence: str) -> None:
    with pytest.raises(AnsibleFilterError, match=sentence):
        VIEW(raw, name)

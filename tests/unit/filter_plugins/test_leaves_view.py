# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.leaves_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

NODES = site("lab")["drawbridge_nodes"]
VIEW = FilterModule().filters()["leaves_view"]


def test_the_door_takes_raw_variables() -> None:
    assert VIEW(NODES, "gpu[02-03]") == ["leaf1", "leaf2"]


@pytest.mark.parametrize(
    ("nodes", "chosen", "sentence"),
    [({"classes": {}}, "gpu01", r"drawbridge_nodes\.ranges is missing"), (NODES, "gpu[01-", "open bracket")],
)
def test_what_is_broken_is_told_as_one_sentence(nodes: object, chosen: str, sentence: str) -> None:
    with pytest.raises(AnsibleFilterError, match=sentence):
        VIEW(nodes, chosen)

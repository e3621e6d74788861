# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.gpfs_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["gpfs_view"]


def test_the_door_takes_raw_variables() -> None:
    assert VIEW(SITE["drawbridge_gpfs"], SITE["drawbridge_nodes"])["nodes"][0] == "gpu01"


def test_without_the_nodes_it_lists_none() -> None:
    assert set(VIEW(SITE["drawbridge_gpfs"])) == {"cluster", "filesystems"}


def test_a_broken_description_is_told_as_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match=r"drawbridge_gpfs\.admin is missing, but it has no default"):
        VIEW({"filesystems": []}, SITE["drawbridge_nodes"])

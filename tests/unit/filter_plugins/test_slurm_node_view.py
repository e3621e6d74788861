# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.slurm_node_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["slurm_node_view"]


def test_the_door_takes_raw_variables() -> None:
    assert VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_slurm"], "gpu01")["gres"] == "gpu:h100:8"


def test_a_broken_description_is_told_as_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_slurm is missing, but nothing can be built without it"):
        VIEW(SITE["drawbridge_nodes"], None, "gpu01")


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match=r"no range has this node; add it to a range"):
        VIEW(SITE["drawbridge_nodes"], SITE["drawbridge_slurm"], "gpu99")

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.slurm_controller_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
VIEW = FilterModule().filters()["slurm_controller_view"]


def test_the_door_takes_raw_variables() -> None:
    view = VIEW(SITE["drawbridge_slurm"], SITE["drawbridge_nodes"], True)
    assert view["books"]["cluster"] == "lab"


def test_a_broken_description_is_told_as_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_nodes is missing, but nothing can be built without it"):
        VIEW(SITE["drawbridge_slurm"], None, True)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.slurm_login_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

VIEW = FilterModule().filters()["slurm_login_view"]


def test_the_door_takes_raw_variables() -> None:
    (file,) = VIEW(site("lab")["drawbridge_slurm"])["sackd"]
    assert '--conf-server ctl:6817"' in file["content"]


def test_a_broken_description_is_told_as_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_slurm is missing, but nothing can be built without it"):
        VIEW(None)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.infra_room_view import FilterModule

from tests.unit.module_utils.site.test_refused import site

SITE = site("example-h100")
VIEW = FilterModule().filters()["infra_room_view"]


def test_raw_variables_go_in() -> None:
    assert VIEW(SITE["drawbridge_slurm"], SITE["drawbridge_kube"])


def test_a_wrong_intent_is_a_filter_error() -> None:
    with pytest.raises(AnsibleFilterError, match="drawbridge_kube"):
        VIEW(SITE["drawbridge_slurm"], {})

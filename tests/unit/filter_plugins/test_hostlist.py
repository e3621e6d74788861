# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.hostlist import FilterModule

EXPAND = FilterModule().filters()["hostlist"]


def test_the_door_expands() -> None:
    assert EXPAND("gpu[05-06],gpu10") == ["gpu05", "gpu06", "gpu10"]


def test_nothing_is_nobody() -> None:
    assert EXPAND("") == []


def test_what_slurm_refuses_is_one_sentence() -> None:
    with pytest.raises(AnsibleFilterError, match="open bracket"):
        EXPAND("gpu[05-")

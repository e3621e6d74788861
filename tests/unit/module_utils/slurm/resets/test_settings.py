# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.settings import Settings

SHOWN = {"cluster": "lab", "periods": {"pb": "month"}, "ends": {"proj": "2027-03-31"}, "newer": 1}


def test_keys_of_newer_versions_are_ignored() -> None:
    assert Settings.parse(json.dumps(SHOWN)) == Settings("lab", {"pb": "month"}, {"proj": "2027-03-31"})


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**SHOWN, "periods": {"pb": "week"}})])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Settings.parse(text)

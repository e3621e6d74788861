# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers without an entry of this cluster. The rest is in test_mm_remote.py."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.remote.io import own_entry

from tests.unit.module_utils.answers import Answers


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ("Cluster name:  other\nSHA digest:  ff\n", "does not show this cluster itself"),
        ("Cluster name:  other (this cluster)\nSHA digest:  ff\n", "but the host belongs to other"),
        ("Cluster name:  mine (this cluster)\nSHA dig", "ends within a line"),
    ],
)
def test_an_answer_that_is_not_this_clusters_or_is_cut_off_is_an_error(shown: str, told: str) -> None:
    with pytest.raises(DeviceError, match=told):
        own_entry(Mm(Answers({"/mm/mmauth": shown}), "/mm"), "mine")

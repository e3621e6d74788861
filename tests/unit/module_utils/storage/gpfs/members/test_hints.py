# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members import hints


def test_hints_differ_for_a_host_that_answers_ansible_and_one_that_is_off() -> None:
    assert "ssh gpu01 true" in hints.unreached("gpu01", answers=True)
    assert hints.unreached("gpu01", answers=False).endswith("start the host, or repair its network")

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mmfsd import IMMEDIATE

RESTART = ("pagepool", "workerThreads", "maxFilesToCache", "verbsRdma", "verbsPorts", "verbsRdmaCm")


@pytest.mark.parametrize("attribute", RESTART)
def test_what_needs_a_restart_is_never_set_in_a_running_daemon(attribute: str) -> None:
    assert attribute not in IMMEDIATE


def test_the_throughput_is_set_at_once() -> None:
    assert "maxMBpS" in IMMEDIATE

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mmfsd import IMMEDIATE


def test_what_needs_a_restart_is_never_set_in_a_running_daemon() -> None:
    restart = {"pagepool", "workerThreads", "maxFilesToCache", "verbsRdma", "verbsPorts", "verbsRdmaCm"}
    assert not restart & IMMEDIATE and "maxMBpS" in IMMEDIATE

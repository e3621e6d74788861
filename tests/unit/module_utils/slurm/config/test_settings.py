# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.words import KEYS, spelled


def test_a_daemon_does_not_restart_for_another_daemons_port() -> None:
    assert settings.at_start({"SlurmdPort": "6828"}, "slurmctld") == []
    assert settings.at_start({"CommunicationParameters": "NoInAddrAny"}, "sackd") == []


def test_keys_that_slurm_reads_at_start_are_keys_of_slurm() -> None:
    assert {key for keys in settings.AT_START.values() for key in keys} <= set(spelled(KEYS))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.settings import (
    AT_START,
    at_start,
    joined,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.words import KEYS, spelled


def test_lists_grow_and_values_stand_alone() -> None:
    site = {"LaunchParameters": "test_exec", "MpiDefault": "pmix"}
    assert joined({"LaunchParameters": "use_interactive_step", "ReturnToService": 0}, site) == {
        "LaunchParameters": "use_interactive_step,test_exec",
        "ReturnToService": 0,
        "MpiDefault": "pmix",
    }


def test_a_list_of_the_sites_alone_begins_without_a_comma() -> None:
    assert joined({}, {"SlurmdParameters": "allow_ecores"}) == {"SlurmdParameters": "allow_ecores"}


def test_only_what_a_reconfigure_cannot_change_asks_for_a_restart() -> None:
    assert at_start({"SlurmdTimeout": "600"}, "slurmd") == []
    told = at_start({"SlurmdPort": "6828", "AuthInfo": "ttl=60"}, "slurmd")
    assert told == ["# read at start: AuthInfo=ttl=60 SlurmdPort=6828"]


def test_nobody_restarts_for_another_daemons_port() -> None:
    assert at_start({"SlurmdPort": "6828"}, "slurmctld") == []
    assert at_start({"CommunicationParameters": "NoInAddrAny"}, "sackd") == []


def test_what_is_read_at_start_is_a_key_of_slurms() -> None:
    assert {key for keys in AT_START.values() for key in keys} <= set(spelled(KEYS))

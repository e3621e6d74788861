# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which way a change takes, for each system and release; transactions are in test_transaction_io."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.jobs import Own
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.strategy import (
    HeldSession,
    Job,
    SavedStartup,
    Strategy,
    Timer,
    no_text,
)

NAME, LINES = "drawbridge-a", ("one", "two")


def change(name: str, seconds: int, lines: tuple[str, ...], own: Any) -> tuple[str, ...]:
    del name, seconds, own
    return lines


@pytest.mark.parametrize(
    ("strategy", "seconds"),
    [
        (Timer(change, no_text), 300),
        (Timer(change, no_text, unit_s=60), 300),
        (Timer(change, no_text, unit_s=70), 350),
        (Job(change, no_text, takes_s=len), 302),
        (Job(change, no_text, takes_s=len, unit_s=60), 360),
        (HeldSession(change, no_text), 300),
        (SavedStartup(change, no_text), 300),
    ],
)
def test_the_time_until_a_roll_back_is_never_shorter_than_wanted(strategy: Strategy, seconds: int) -> None:
    assert strategy.seconds(300, LINES) == seconds


WAYS = {
    "eos": ("eos", None, Timer),
    "junos": ("junos", None, Timer),
    "nvue": ("nvue", None, Timer),
    "os10": ("os10", (), SavedStartup),
    "sonic": ("sonic", None, Job),
    "nxos with two stages": ("nxos", Own(scheduler=False, two_stages=True), HeldSession),
    "nxos before them": ("nxos", Own(scheduler=False, two_stages=False), Job),
}


@pytest.mark.parametrize(("system", "own", "kind"), WAYS.values(), ids=WAYS)
def test_a_change_is_kept_by_its_session_or_by_any_or_by_saving(system: str, own: Any, kind: type) -> None:
    strategy = dialect(system).strategy(own)
    assert type(strategy) is kind
    assert bool(strategy.confirmation(NAME)) is isinstance(strategy, Timer)
    assert bool(strategy.kept_by_its_own(NAME, 300)) is (kind is HeldSession)
    assert strategy.earlier(own) == (own if kind is SavedStartup else None)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import Config
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.way_back_io import go_back

from tests.unit.emulated_switch import profile

BEFORE = render(profile("os10", 1))
AFTER = render(replace(profile("os10", 1), mtu_bytes=9100))


def undone(*reads: Config | DeviceError) -> tuple[str, list[str]]:
    """The message, and the typed commands, on a switch that gives these configurations in turn."""
    typed: list[str] = []
    answers: Iterator[Config | DeviceError] = iter(reads)

    def read() -> Config:
        answer = next(answers)
        if isinstance(answer, DeviceError):
            raise answer
        return answer

    def send(line: str) -> str:
        typed.append(line)
        return ""

    return go_back(read, send, DIALECT, "drawbridge-1", BEFORE), typed


def test_a_change_in_force_is_undone_by_a_transaction_of_its_own() -> None:
    said, typed = undone(AFTER, BEFORE)
    assert said == "the change was rolled back"
    assert typed == [
        "lock",
        "start transaction",
        "configure terminal",
        "interface ethernet1/1/1",
        "mtu 9214",
        "exit",
        "end",
        "commit",
    ]


def test_what_others_changed_meanwhile_is_said() -> None:
    said, _ = undone(AFTER, AFTER)
    assert said == "the change is not undone: interface ethernet1/1/1 lacks 'mtu 9214', unlike before"


def test_a_switch_that_can_not_be_reached_is_left_to_the_next_run() -> None:
    said, typed = undone(DeviceError("leaf1 can't be reached by SSH"))
    assert said == (
        "it could not be undone (leaf1 can't be reached by SSH): if it is in force, the next run proves it or rolls it"
        " back"
    )
    assert typed == []

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Switches
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import (
    ASICS,
    CHIPS,
    SYSTEMS,
)

from tests.unit.emulated_switch import profile


def test_the_intent_takes_every_system_and_no_other() -> None:
    (platform,) = (field for field in dataclasses.fields(Switches) if field.name == "platform")
    assert platform.metadata["choices"] == tuple(SYSTEMS)


@pytest.mark.parametrize(
    ("system", "chip", "family"),
    [
        ("sonic", "tomahawk5", "xgs"),
        ("sonic", "spectrum4", "spectrum"),
        ("eos", "tomahawk3", "xgs"),
        ("eos", "jericho2", "jericho"),
        ("nvue", "spectrum2", "spectrum"),
        ("os10", "trident4", "xgs"),
    ],
)
def test_people_name_the_chip_and_the_queues_are_those_of_its_family(system: str, chip: str, family: str) -> None:
    assert chip in SYSTEMS[system]
    assert replace(profile(system), asic=chip).family == family


def test_every_asic_of_a_system_is_a_chip_and_every_chip_runs_a_system() -> None:
    assert {asic for asics in SYSTEMS.values() for asic in asics} == {*CHIPS} == {*ASICS}

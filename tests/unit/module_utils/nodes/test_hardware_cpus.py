# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.module_utils.machine_facts import ALL, facts

USUAL = {"numa_without_cpus": "", "numa_without_memory": ""}


@pytest.mark.parametrize("name", ALL)
def test_a_machine_is_read_as_it_is(name: str) -> None:
    machine, found = ALL[name], facts(name)
    if machine.described:
        assert found["cpus"] == {**USUAL, **machine.described}
    else:
        assert found["cpus"] == {}
        assert [reason for reason in found["missing"] if machine.refused in reason]
    assert [gpu["numa"] for gpu in found["gpus"]] == list(machine.gpus)
    assert [gpu["minor"] for gpu in found["gpus"]] == list(machine.minors or range(len(machine.gpus)))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated switches, a fixture for each system; examples without a deadline."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# a busy machine is no fault of an example
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

SYSTEMS = ("leaf", "cumulus", "sonic", "nexus", "junos", "os10", "nexus9", "cumulus9", "sonic24")


@pytest.fixture(scope="session")
def running_switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """One switch of a system for all tests: a start costs more than what most of them do with it."""
    processes: list[Any] = []

    @functools.cache
    def running(system: str) -> Any:
        # half of the product, which most files of tests don't need
        module = importlib.import_module("tests.unit.emulated_systems")
        return module.start(system, tmp_path_factory.mktemp(system), processes)

    yield running
    for process in processes:
        process.terminate()
        process.wait(120)
        process.stdout.close()


def fresh(system: str) -> Any:
    """The fixture of a switch as it left the factory."""

    @pytest.fixture(name=system)
    def reset(running_switch: Callable[[str], Any]) -> Any:
        switch = running_switch(system)
        switch.reset()
        return switch

    return reset


@pytest.fixture
def switch(system: Any, running_switch: Callable[[str], Any]) -> Any:
    """The switch that a row of a table names, as it left the factory."""
    found = running_switch(system.fixture)
    found.reset()
    return found


leaf, cumulus, sonic, nexus, junos, os10, nexus9, cumulus9, sonic24 = map(fresh, SYSTEMS)

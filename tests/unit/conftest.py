# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated switches, a fixture for each system."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

SYSTEMS = ("leaf", "cumulus", "sonic", "nexus", "junos", "os10", "nexus9")
MODULES = {"leaf": "switch"}
"""The ends of the modules' names that are not those of the fixtures."""


@pytest.fixture(scope="session")
def running_switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Any]]:
    """One switch of a system for all tests: a start costs more than what most of them do with it."""
    processes: list[Any] = []

    @functools.cache
    def running(system: str) -> Any:
        # half of the product, which most files of tests don't need
        module = importlib.import_module(f"tests.unit.emulated_{MODULES.get(system, system)}")
        switch, process = module.start(tmp_path_factory.mktemp(system))
        processes.append(process)
        return switch

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


leaf, cumulus, sonic, nexus, junos, os10, nexus9 = map(fresh, SYSTEMS)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This machine's GPUs, what Drawbridge reads of them, and the intent that follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_io import Host

from tests.gpu import machine, proposed
from tests.gpu.driver import Gpu
from tests.gpu.machine import LIMIT_S


@pytest.fixture(scope="session")
def gpus() -> list[Gpu]:
    """The GPUs as nvidia-smi shows them. A machine that can't run the tests is an error, and no test is skipped."""
    why = machine.refusal()
    assert not why, why
    return machine.seen()


@pytest.fixture(scope="session", autouse=True)
def unchanged(gpus: list[Gpu]) -> Iterator[None]:
    """Settings of the GPUs are the same after all tests."""
    before = machine.modes()
    yield
    assert machine.modes() == before


@pytest.fixture(scope="session")
def run() -> Command:
    """Runs tools as modules do."""
    return Command(LIMIT_S)


@pytest.fixture(scope="session")
def facts(gpus: list[Gpu], run: Command) -> dict[str, Any]:
    """What the module host_hardware returns here."""
    return Host(run).read()


@pytest.fixture(scope="session")
def described(gpus: list[Gpu], facts: dict[str, Any]) -> dict[str, Any]:
    """The nodes of the intent that describe.yml proposes."""
    return proposed.nodes(facts, gpus, proposed.first_core())

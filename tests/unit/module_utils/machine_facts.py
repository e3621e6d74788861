# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Drawbridge reads of each machine of tests/machines.yml."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_io, lldp_io

from tests.machines import IN_MEMORY, machines, products, write
from tests.unit.module_utils.answers import Answers

ALL = machines()


@functools.cache
def facts(name: str) -> dict[str, Any]:
    """What Drawbridge reads of a machine, for tests that do not change it."""
    machine, without = ALL[name], {one: DeviceError(f"{one} is not installed") for one in ("lldpctl", "networkctl")}
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware_io, "tool", lambda name: name)
        patch.setattr(lldp_io, "tool", lambda name: name)
        write(machine, Path(folder))
        return hardware_io.Host(Answers({"nvidia-smi": products(machine), **without}), folder).read()

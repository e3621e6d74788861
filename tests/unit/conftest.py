# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What several kinds of unit tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.emulated_cumulus import Cumulus
    from tests.unit.emulated_junos import Junos
    from tests.unit.emulated_nexus import Nexus
    from tests.unit.emulated_os10 import PowerSwitch
    from tests.unit.emulated_sonic import Sonic
    from tests.unit.emulated_switch import Leaf


@pytest.fixture(scope="session")
def running_leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaf]:
    """One switch for all tests: a start costs more than what most of them do with it."""
    from tests.unit.emulated_switch import start  # half of the product, which most files of tests don't need

    leaf, process = start(tmp_path_factory.mktemp("switch"))
    yield leaf
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture
def leaf(running_leaf: Leaf) -> Leaf:
    """A switch as it left the factory."""
    running_leaf.reset()
    return running_leaf


@pytest.fixture(scope="session")
def running_cumulus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cumulus]:
    """One Cumulus switch for all tests."""
    from tests.unit.emulated_cumulus import start

    cumulus, process = start(tmp_path_factory.mktemp("cumulus"))
    yield cumulus
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture
def cumulus(running_cumulus: Cumulus) -> Cumulus:
    """A Cumulus switch as it left the factory."""
    running_cumulus.reset()
    return running_cumulus


@pytest.fixture(scope="session")
def running_sonic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sonic]:
    """One SONiC switch for all tests."""
    from tests.unit.emulated_sonic import start

    sonic, process = start(tmp_path_factory.mktemp("sonic"))
    yield sonic
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture
def sonic(running_sonic: Sonic) -> Sonic:
    """A SONiC switch as it left the factory."""
    running_sonic.reset()
    return running_sonic


@pytest.fixture(scope="session")
def running_nexus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nexus]:
    """One Nexus switch for all tests."""
    from tests.unit.emulated_nexus import start

    nexus, process = start(tmp_path_factory.mktemp("nexus"))
    yield nexus
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture(scope="session")
def running_junos(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Junos]:
    """One QFX switch for all tests."""
    from tests.unit.emulated_junos import start

    junos, process = start(tmp_path_factory.mktemp("junos"))
    yield junos
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture(scope="session")
def running_os10(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PowerSwitch]:
    """One Dell switch for all tests."""
    from tests.unit.emulated_os10 import start

    os10, process = start(tmp_path_factory.mktemp("os10"))
    yield os10
    process.terminate()
    process.wait(120)
    assert process.stdout
    process.stdout.close()


@pytest.fixture
def nexus(running_nexus: Nexus) -> Nexus:
    """A Nexus switch as it left the factory."""
    running_nexus.reset()
    return running_nexus


@pytest.fixture
def junos(running_junos: Junos) -> Junos:
    """A QFX switch as it left the factory."""
    running_junos.reset()
    return running_junos


@pytest.fixture
def os10(running_os10: PowerSwitch) -> PowerSwitch:
    """A Dell switch as it left the factory."""
    running_os10.reset()
    return running_os10

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.systems import SYSTEMS


def test_ansible_runs_on_every_system() -> None:
    """Ansible's modules need Python 3.9."""
    assert [it.name for it in SYSTEMS.values() if tuple(map(int, it.python.split("."))) < (3, 9)] == []
    assert {it.manager for it in SYSTEMS.values()} == {"apt", "dnf"}


def test_no_version_of_a_package_fits_two_systems() -> None:
    words = [it.word for it in SYSTEMS.values()]
    assert [word for word in words if sum(word in other for other in words) > 1] == []

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import RELEASES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.sources import (
    SOURCES,
    choices,
    verdict,
)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("debian-12", ["schedmd_deb", "site"]),
        ("debian-13", ["debian", "schedmd_deb", "site"]),
        ("rhel-9", ["openhpc", "schedmd_rpm", "site"]),
    ],
)
def test_only_packages_with_a_usable_release_are_offered(system: str, expected: list[str]) -> None:
    assert sorted(choices(system)) == expected


def test_a_verdict_names_what_was_seen() -> None:
    assert verdict(SOURCES["debian-13", "debian"]).startswith("seen")
    assert verdict(SOURCES["debian-12", "debian"]).startswith("not supported")
    assert verdict(SOURCES["ubuntu-24.04", "debian"]).startswith("expected")


def test_login_hosts_can_be_built_from_whatever_is_usable() -> None:
    assert [source for source in SOURCES.values() if source.usable and not source.sackd] == []
    assert all({*source.usable} <= {*RELEASES} for source in SOURCES.values())

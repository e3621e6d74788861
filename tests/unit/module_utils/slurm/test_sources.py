# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm import sources
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import RELEASES


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("debian-12", ["schedmd_deb", "site"]),
        ("debian-13", ["debian", "schedmd_deb", "site"]),
        ("rhel-9", ["openhpc", "schedmd_rpm", "site"]),
    ],
)
def test_only_packages_with_a_usable_release_are_offered(system: str, expected: list[str]) -> None:
    assert sorted(sources.choices(system)) == expected


def test_a_verdict_begins_with_seen_expected_or_not_supported() -> None:
    assert sources.verdict(sources.SOURCES["debian-13", "debian"]).startswith("seen")
    assert sources.verdict(sources.SOURCES["debian-12", "debian"]).startswith("not supported")
    assert sources.verdict(sources.SOURCES["ubuntu-24.04", "debian"]).startswith("expected")


def test_login_hosts_can_be_built_from_whatever_is_usable() -> None:
    assert [source for source in sources.SOURCES.values() if source.usable and not source.sackd] == []
    assert all({*source.usable} <= {*RELEASES} for source in sources.SOURCES.values())

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.packaging import PACKAGINGS


@pytest.mark.parametrize("name", sorted({*PACKAGINGS} - {"site"}))
def test_every_host_gets_munge_and_its_daemons(name: str) -> None:
    packaging = PACKAGINGS[name]
    daemons = {"controller": ("slurmctld",), "accounting": ("slurmdbd",), "node": ("slurmd",), "login": ("sackd",)}
    for host, words in daemons.items():
        packages = getattr(packaging, host)
        assert "munge" in packages
        assert [word for word in words if not any(word in package for package in packages)] == []
    assert packaging.database == ("mariadb-server",)


def test_a_site_that_installs_slurm_itself_gets_no_package() -> None:
    site = PACKAGINGS["site"]
    assert {site.controller, site.accounting, site.database, site.node, site.login} == {()}

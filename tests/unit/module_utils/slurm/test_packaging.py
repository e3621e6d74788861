# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.packaging import PACKAGINGS

# of Debian 13 (installed), OpenHPC's slurm.spec 23.11.10, SchedMD's slurm.spec and debian/control of 24.11
DAEMONS = {
    "debian": ("slurmctld", "slurmdbd", "slurmd", "sackd"),
    "openhpc": ("slurm-slurmctld-ohpc", "slurm-slurmdbd-ohpc", "slurm-slurmd-ohpc", "slurm-sackd-ohpc"),
    "schedmd_deb": ("slurm-smd-slurmctld", "slurm-smd-slurmdbd", "slurm-smd-slurmd", "slurm-smd-sackd"),
    "schedmd_rpm": ("slurm-slurmctld", "slurm-slurmdbd", "slurm-slurmd", "slurm-sackd"),
}
COMMANDS = {
    "debian": {"slurm-client", "slurm-wlm-basic-plugins"},
    "openhpc": {"slurm-ohpc"},
    "schedmd_deb": {"slurm-smd", "slurm-smd-client"},
    "schedmd_rpm": {"slurm"},
}


@pytest.mark.parametrize("name", PACKAGINGS)
def test_every_host_gets_its_daemon_munge_and_the_commands_and_no_daemon_of_others(name: str) -> None:
    packaging = PACKAGINGS[name]
    slurmctld, slurmdbd, slurmd, sackd = DAEMONS[name]
    assert {slurmctld, slurmdbd, "mariadb-server"} <= set(packaging.controller)
    for own, daemon in ((packaging.node, slurmd), (packaging.login, sackd)):
        assert set(own) == {daemon, "munge", *COMMANDS[name]}
    assert {"munge", *COMMANDS[name]} <= set(packaging.controller)
    assert not {slurmd, sackd} & set(packaging.controller)


def test_debians_library_of_the_books_is_a_package_of_its_own() -> None:
    assert "slurm-wlm-mysql-plugin" in PACKAGINGS["debian"].controller


@pytest.mark.parametrize(
    ("name", "user_id"), [("debian", 0), ("openhpc", 0), ("schedmd_deb", 64030), ("schedmd_rpm", 64030)]
)
def test_only_schedmds_packages_bring_no_user(name: str, user_id: int) -> None:
    assert PACKAGINGS[name].user_id == user_id

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whose packages Slurm comes in: their names and paths, one row a distributor.

From Debian 13 (installed), OpenHPC 3.x (slurm.spec of 23.11.10) and SchedMD's slurm.spec and debian/control of 24.11.
Everything that is the same in all of them, such as /etc/slurm, /usr/sbin and the names of units, is not here.
"""

from __future__ import annotations

from dataclasses import dataclass

DATABASE = ("mariadb-server", "munge")


@dataclass(frozen=True)
class Packaging:
    """One distributor's packages."""

    name: str
    manager: str
    """What installs them: apt or dnf."""
    controller: tuple[str, ...]
    node: tuple[str, ...]
    login: tuple[str, ...]
    options: str
    """Where units find the environment of their daemons; upstream's units read both folders, /etc/default last."""
    mariadb: str
    """Where MariaDB finds more of its configuration."""
    user_id: int = 0
    """Number for the user slurm, the same on all hosts, where packages bring none; 0: they bring it."""


_SLURM_ID = 64030
"""Debian's number of the user slurm, so that a site can change its distributor."""
_BASE = ("munge", "slurm-client", "slurm-wlm-basic-plugins")

_ALL = (
    Packaging(
        "debian",
        controller=(*DATABASE, *_BASE[1:], "slurm-wlm-mysql-plugin", "slurmctld", "slurmdbd"),
        node=(*_BASE, "slurmd"),
        login=(*_BASE, "sackd"),
        manager="apt",
        options="/etc/default",
        mariadb="/etc/mysql/mariadb.conf.d",
    ),
    Packaging(
        "openhpc",
        controller=(*DATABASE, "slurm-ohpc", "slurm-slurmctld-ohpc", "slurm-slurmdbd-ohpc"),
        node=("munge", "slurm-ohpc", "slurm-slurmd-ohpc"),
        login=("munge", "slurm-ohpc", "slurm-sackd-ohpc"),
        manager="dnf",
        options="/etc/sysconfig",
        mariadb="/etc/my.cnf.d",
    ),
    Packaging(
        "schedmd_deb",
        controller=(*DATABASE, "slurm-smd", "slurm-smd-client", "slurm-smd-slurmctld", "slurm-smd-slurmdbd"),
        node=("munge", "slurm-smd", "slurm-smd-client", "slurm-smd-slurmd"),
        login=("munge", "slurm-smd", "slurm-smd-client", "slurm-smd-sackd"),
        manager="apt",
        options="/etc/default",
        mariadb="/etc/mysql/mariadb.conf.d",
        user_id=_SLURM_ID,
    ),
    Packaging(
        "schedmd_rpm",
        controller=(*DATABASE, "slurm", "slurm-slurmctld", "slurm-slurmdbd"),
        node=("munge", "slurm", "slurm-slurmd"),
        login=("munge", "slurm", "slurm-sackd"),
        manager="dnf",
        options="/etc/sysconfig",
        mariadb="/etc/my.cnf.d",
        user_id=_SLURM_ID,
    ),
)
PACKAGINGS = {packaging.name: packaging for packaging in _ALL}
"""Whose packages we can install."""

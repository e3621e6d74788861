# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names and paths in which distributors' Slurm packages differ, one row a distributor.

From Debian 13 (installed), OpenHPC 3.x (slurm.spec of 23.11.10) and SchedMD's slurm.spec and debian/control of 24.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class Packaging:
    """One distributor's packages."""

    name: str
    manager: str
    """apt or dnf."""
    controller: tuple[str, ...]
    """Packages of slurmctld's host."""
    accounting: tuple[str, ...]
    """Packages of slurmdbd's host."""
    node: tuple[str, ...]
    login: tuple[str, ...]
    adopt: tuple[str, ...]
    """Packages of PAM's module that adopts a login into a job."""
    options: str
    """Folder of the units' environment files; upstream's units read both folders, /etc/default last."""
    mariadb: str
    """Folder of MariaDB's configuration snippets."""
    database: tuple[str, ...] = ("mariadb-server",)
    detection: tuple[str, ...] = ()
    """Packages of the plugin that detects instances of GPUs, where the others lack it."""
    user_id: int = 0
    """Number of the user slurm on all hosts, if the packages don't create it; 0: they do."""


_SLURM_ID = 64030
"""Debian's number, so that a site can change its distributor."""
_BASE = ("munge", "slurm-client", "slurm-wlm-basic-plugins")
_deb = partial(Packaging, manager="apt", options="/etc/default", mariadb="/etc/mysql/mariadb.conf.d")
_rpm = partial(Packaging, manager="dnf", options="/etc/sysconfig", mariadb="/etc/my.cnf.d")

_ALL = (
    _deb(
        "debian",
        controller=(*_BASE, "slurmctld"),
        accounting=("munge", "slurm-wlm-basic-plugins", "slurm-wlm-mysql-plugin", "slurmdbd"),
        node=(*_BASE, "slurmd"),
        login=(*_BASE, "sackd"),
        adopt=("libpam-slurm-adopt",),
        # of the archive's part contrib
        detection=("slurm-wlm-nvml-plugin",),
    ),
    _rpm(
        "openhpc",
        controller=("munge", "slurm-ohpc", "slurm-slurmctld-ohpc"),
        accounting=("munge", "slurm-ohpc", "slurm-slurmdbd-ohpc"),
        node=("munge", "slurm-ohpc", "slurm-slurmd-ohpc"),
        login=("munge", "slurm-ohpc", "slurm-sackd-ohpc"),
        adopt=("slurm-pam_slurm-ohpc",),
    ),
    _deb(
        "schedmd_deb",
        controller=("munge", "slurm-smd", "slurm-smd-client", "slurm-smd-slurmctld"),
        accounting=("munge", "slurm-smd", "slurm-smd-slurmdbd"),
        node=("munge", "slurm-smd", "slurm-smd-client", "slurm-smd-slurmd"),
        login=("munge", "slurm-smd", "slurm-smd-client", "slurm-smd-sackd"),
        adopt=("slurm-smd-libpam-slurm-adopt",),
        user_id=_SLURM_ID,
    ),
    _rpm(
        "schedmd_rpm",
        controller=("munge", "slurm", "slurm-slurmctld"),
        accounting=("munge", "slurm", "slurm-slurmdbd"),
        node=("munge", "slurm", "slurm-slurmd"),
        login=("munge", "slurm", "slurm-sackd"),
        adopt=("slurm-pam_slurm",),
        user_id=_SLURM_ID,
    ),
    # the site has installed Slurm, munge and MariaDB itself; units of a build from source read both folders of options
    _deb("site", controller=(), accounting=(), database=(), node=(), login=(), adopt=()),
)
PACKAGINGS = {packaging.name: packaging for packaging in _ALL}

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of slurmdbd and its database: who runs them, and what then must not be set."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import Fault
from ...nodes.model import Nodes
from ..model import Slurm
from .model import Database

KEY = "drawbridge_slurm.accounting"


def slurmdbd_is_whose(slurm: Slurm) -> Iterator[Fault]:
    """An existing slurmdbd has its own file and database, and serves other clusters too."""
    storage = slurm.accounting
    if storage.slurmdbd != "site":
        return
    if not storage.host:
        reason = "slurmdbd is the site's, and slurm.conf must name its host"
        yield Fault(f"{KEY}.host", "", reason, "write its name or address")
    if storage.database != Database():
        reason = f"{KEY}.slurmdbd is site, so Drawbridge does not configure its database"
        yield Fault(f"{KEY}.database", storage.database.server, reason, "remove database, or set slurmdbd: drawbridge")
    if storage.settings:
        reason = f"{KEY}.slurmdbd is site, so Drawbridge does not write slurmdbd.conf"
        repair = "remove settings, or set slurmdbd: drawbridge"
        yield Fault(f"{KEY}.settings", sorted(storage.settings)[0], reason, repair)
    if slurm.absent.qos:
        reason = f"QOS belong to all clusters of that slurmdbd ({KEY}.slurmdbd is site)"
        repair = "remove it here, and delete the QOS with sacctmgr when no cluster uses it"
        yield Fault("drawbridge_slurm.absent.qos", list(slurm.absent.qos), reason, repair)


def database_is_whose(slurm: Slurm) -> Iterator[Fault]:
    """MariaDB of Drawbridge is on slurmdbd's host, and known by its socket."""
    database, preset = slurm.accounting.database, Database()
    if database.server == "drawbridge":
        for name in ("host", "port", "user"):
            value = getattr(database, name)
            if value != getattr(preset, name):
                reason = f"Drawbridge runs the server itself ({KEY}.database.server is drawbridge)"
                yield Fault(f"{KEY}.database.{name}", value, reason, f"remove {name}, or set server: site")


def slurmdbd_is_on_no_node(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """A node reboots, is repaired and leaves; accounting must not."""
    host = slurm.accounting.host
    if host and nodes.range_of(host):
        reason = "it is a node, and accounting would stop with each of its repairs"
        yield Fault(f"{KEY}.host", host, reason, "use a host that runs no jobs, or leave host out")


RULES = (
    slurmdbd_is_whose,
    database_is_whose,
    slurmdbd_is_on_no_node,
)

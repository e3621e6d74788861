# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the reservation of a proof keeps users' jobs off a node. Pure."""

from __future__ import annotations

import re

from ..core import hostlist
from ..nodes.scontrol import fields

RESERVATION = "drawbridge-proof"
TIME_FORMAT = {"SLURM_TIME_FORMAT": "%s"}
"""The environment in which scontrol prints times as seconds since the epoch."""
LEAST_S = 420.0
"""A reservation that ends sooner does not count, so that the health check drains the node before it ends.

The check runs each 300 s by default. A proof that lives prolongs its reservation before this time.
"""


def holds(shown: str, node: str, now: float) -> bool:
    """Whether `scontrol show reservation NAME -o` shows one that is active, has the node, and lasts long enough.

    `now` is in seconds since the epoch. Raises HostlistError.
    """
    found = fields(shown)
    end = found.get("EndTime", "")
    if found.get("ReservationName") != RESERVATION or found.get("State") != "ACTIVE" or not re.fullmatch("[0-9]+", end):
        return False
    names = hostlist.expand(found.get("Nodes", "").replace("(null)", ""))
    return float(end) - now >= LEAST_S and node in names

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of logins on nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import Fault
from ..model import Slurm
from .model import SITE


def admins_have_a_policy(slurm: Slurm) -> Iterator[Fault]:
    """Where the site decides, a list of Drawbridge's would have no effect."""
    logins = slurm.node_logins
    if logins.policy == SITE and (named := [*logins.admins, *logins.admin_groups]):
        reason, repair = f"nothing reads the admins {', '.join(named)}", "write adopt or closed, or remove them"
        yield Fault("drawbridge_slurm.node_logins.policy", SITE, reason, repair)


RULES = (admins_have_a_policy,)

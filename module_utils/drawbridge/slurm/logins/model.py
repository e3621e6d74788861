# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may log in to nodes."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import Shape, option

ADOPT, CLOSED, SITE = "adopt", "closed", "site"
PERSON = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,62}",
    "the name of a user or group",
    "at most 63 letters, digits, dots, dashes, underscores and @, such as eve, not with a dash first",
)
"""A user or a group, as PAM reads it in one word: no blanks, and no colon, which parts names."""


@dataclass(frozen=True)
class NodeLogins:
    """Logins on nodes. A login outside of jobs can use a held node's GPUs."""

    policy: str = option(
        "adopt: users log in to nodes of their jobs, as a part of them; closed: admins alone log in; site: as the site"
        " has it",
        SITE,
        choices=(ADOPT, CLOSED, SITE),
    )
    admins: tuple[str, ...] = option("users who may always log in, such as Ansible's own; root may", (), pattern=PERSON)
    admin_groups: tuple[str, ...] = option("groups whose members may always log in", (), pattern=PERSON)

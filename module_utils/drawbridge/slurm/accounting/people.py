# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""People of the operating system's groups: which of them may charge an account, and why others can't."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .model import USER

_GROUP = 4
"""Fields of a line of `getent group`: name, password, number, members."""
NO_GROUP = "the controller's operating system has no such group, so the account keeps the users that it has"
NO_NAME = "Slurm can't have a user of this name; it takes small letters, digits, dots, dashes, underscores and @"


def of_group(group: str, passwd: str) -> tuple[str, ...]:
    """Members of one line of `getent group`, and users of `getent passwd` whose own group it is."""
    fields = group.strip().split(":")
    if len(fields) < _GROUP:
        return ()
    own = {row[0] for row in (line.split(":") for line in passwd.splitlines()) if row[3:4] == [fields[2]]}
    return tuple(sorted({*filter(None, fields[3].split(",")), *own}))


def users(
    declared: Sequence[str], groups: Sequence[str], members: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, str]]:
    """Users of an account: declared ones first. Also who or what can't charge it, each with the reason."""
    people = [name for group in groups for name in members.get(group, ()) if name != "root"]
    odd = {name: NO_NAME for name in people if not re.fullmatch(USER.pattern, name)}
    lacking = {f"the members of group {group}": NO_GROUP for group in groups if group not in members}
    return list(dict.fromkeys([*declared, *(name for name in people if name not in odd)])), {**lacking, **odd}

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who installed a package last, from apt's history. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..packages.apt import KEEP_FILES

_KEY = re.compile(r"^([A-Z][\w-]+): +(.*)$", re.MULTILINE)
_PACKAGE = re.compile(r"(?:^|, )([a-z0-9][a-z0-9+.-]*)(?::\w+)? \(")
_ACTIONS = ("Install", "Upgrade", "Downgrade", "Reinstall")
_LONGEST = 60


def installed_by(text: str, names: Collection[str]) -> dict[str, str]:
    """When, by whom and how, by package. Only the last transaction counts, and Drawbridge's own ones say nothing.

    `text` is /var/log/apt/history.log, whose transactions are separated by empty lines.
    """
    found: dict[str, str] = {}
    for part in text.split("\n\n"):
        keys = dict(_KEY.findall(part))
        changed = {name for action in _ACTIONS for name in _PACKAGE.findall(keys.get(action, ""))}
        for name in changed & set(names):
            found[name] = "" if KEEP_FILES in keys.get("Commandline", "") else _said(keys)
    return {name: said for name, said in found.items() if said}


def _said(keys: dict[str, str]) -> str:
    when = " ".join(keys.get("Start-Date", "").split())[:16]
    who = keys.get("Requested-By", "root").split(" (")[0]
    command = keys.get("Commandline", "an unknown command")
    return f"{when} by {who}: {command[:_LONGEST]}"

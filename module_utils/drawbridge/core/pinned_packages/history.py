# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who installed a package last, from apt's history. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..packages.apt import CAREFUL

_KEY = re.compile(r"^([A-Z][\w-]+): +(.*)$", re.MULTILINE)
_PACKAGE = re.compile(r"(?:^|, )([a-z0-9][a-z0-9+.-]*)(?::\w+)? \(([^()]*)\)")
_ACTIONS = {"Install": 0, "Reinstall": 0, "Upgrade": 1, "Downgrade": 1}
"""Which of the versions in brackets is the new one."""
_OURS = f"apt-get {' '.join(CAREFUL)} "
_LONGEST = 60


def installed_by(text: str, versions: Mapping[str, str]) -> dict[str, str]:
    """Day, user and command, by package, of the last transaction that brought this version.

    Transactions of Drawbridge and those that failed are left out. `text` is /var/log/apt/history.log: transactions with
    an empty line between them.
    """
    found: dict[str, str] = {}
    for part in text.split("\n\n"):
        keys = dict(_KEY.findall(part))
        ours = keys.get("Commandline", "").startswith(_OURS)
        for action, at in _ACTIONS.items() if "Error" not in keys else ():
            for name, shown in _PACKAGE.findall(keys.get(action, "")):
                if versions.get(name) in shown.split(", ")[at : at + 1]:
                    found[name] = "" if ours else _said(keys)
    return {name: said for name, said in found.items() if said}


def _said(keys: Mapping[str, str]) -> str:
    """Without the hour, so that the step is the same on all nodes that one person has changed on a day."""
    day = keys.get("Start-Date", "").split(" ")[0]
    who = keys.get("Requested-By", "root").split(" (")[0]
    command = keys.get("Commandline", "an unknown command")
    return f"{day} by {who}: {command[:_LONGEST]}"

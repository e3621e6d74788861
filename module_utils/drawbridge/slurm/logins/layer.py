# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who may log in to a node: users with a job there, or admins alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.command import Command, tool
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Work
from ...core.placed.text import BLOCK, FILE, Item, items
from ...core.reading import reading
from ...core.spec import bare, documented
from .io import Logins, groups_of, has_module, who_connects
from .model import ADOPT, SITE, NodeLogins
from .plan import LoginState, plan
from .text import FOLDER, LINK, MODULE, SSHD, TIMERS, sshd_lines, timer_lines

COMMAND_S = 60.0
KEY = "drawbridge_slurm.node_logins"
SPEC: dict[str, Any] = {
    **{key: bare(option) for key, option in documented(NodeLogins)["options"].items()},
    "name": {"type": "str", "required": True},
    "folder": {"type": "path", "default": FOLDER},
}


def work(params: Params, check: bool) -> Work[Any]:
    """PAM's lines, and no sessions of systemd. Where the site decides, this does nothing."""
    if params["policy"] == SITE:
        return reading("logins", dict)
    if params["policy"] == ADOPT and not has_module() and not check:
        raise DeviceError(f"PAM has no {MODULE}: install the package of the one who built Slurm")
    want = LoginState(_blocks(params), masked=True, refused=_lockout(params, who_connects()))
    return Work(Logins(want, Command(COMMAND_S), tool("sshd")), plan, want)


def _blocks(params: Params) -> dict[str, str]:
    admins, groups, folder = params["admins"], params["admin_groups"], Path(params["folder"])
    timers = [name for name in TIMERS if (folder / name).is_file()]
    return {
        **{str(folder / name): timer_lines(admins, groups) for name in timers},
        str(folder / SSHD): sshd_lines(params["policy"], params["name"], admins, groups),
    }


def _lockout(params: Params, user: str) -> str:
    """Why who connects could not do so again; empty if they can."""
    if user in ("root", *params["admins"]) or groups_of(user) & {*params["admin_groups"]}:
        return ""
    return f"{user}, who connects here, could not log in any more: add {user} to {KEY}.admins"


def places(params: Params) -> list[Item]:
    """The blocks and the mask; nothing where the site decides."""
    if params["policy"] == SITE:
        return []
    files = [f"{params['folder']}/{name}" for name in (*TIMERS, SSHD)]
    return [*items(FILE, [LINK]), *items(BLOCK, files)]


SLURM_NODE_LOGINS = Layer(SPEC, work, viewed=("policy", "admins", "admin_groups", "name"), places=places)

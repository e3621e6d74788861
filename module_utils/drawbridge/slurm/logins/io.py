# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""PAM and systemd of this host, and who connects to it."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...core.host_files.text import block, with_block, without_block
from .plan import LoginState
from .text import LOGIND, MODULE, MODULES, is_first

NO_LOGIN = 2**32 - 1
"""A process that no login began."""


class Logins:
    """This host's logins. `sshd` is the path of its program."""

    name = "logins"

    def __init__(self, want: LoginState, run: Run, sshd: str) -> None:
        self._want, self._run, self._sshd = want, run, sshd

    def read(self) -> LoginState:
        """Raises DeviceError, also if sshd does not ask PAM."""
        asked = [line.split() for line in self._run([self._sshd, "-T"]).out.splitlines()]
        if ["usepam", "yes"] not in asked:
            raise DeviceError("sshd does not ask PAM who may log in: set UsePAM yes in its configuration")
        shown = self._run(["systemctl", "show", "--property=LoadState,ActiveState", LOGIND]).out.split()
        masked = "LoadState=masked" in shown and not {"ActiveState=active", "ActiveState=deactivating"} & {*shown}
        return LoginState({path: _block(path) for path in self._want.blocks}, masked)

    def apply(self, steps: Sequence[Step[LoginState]]) -> None:
        """Raises DeviceError."""
        for step in steps:
            if step.payload:
                entry = _file(step.payload)
                block_of = with_block("", self._want.blocks[step.payload])
                files.write(step.payload, replace(entry, content=block_of + without_block(entry.content or "")))
            else:
                self._run(["systemctl", "mask", "--now", LOGIND])


def has_module(root: Path = Path("/")) -> bool:
    """Whether PAM has the module that adopts logins into jobs."""
    return any(path.is_file() for folder in MODULES for path in root.glob(f"{folder}/{MODULE}"))


def who_connects(environment: Mapping[str, str] = os.environ, login: Path = Path("/proc/self/loginuid")) -> str:
    """The user who logged in to run this, whatever user it runs as now."""
    if name := environment.get("SUDO_USER"):
        return name
    try:
        number = int(login.read_text())
    except (OSError, ValueError):
        number = NO_LOGIN
    return pwd.getpwuid(os.geteuid() if number == NO_LOGIN else number).pw_name


def groups_of(user: str) -> set[str]:
    """The groups of a user; none for a user whom this host does not know."""
    try:
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
    except KeyError:
        return set()
    return {found.gr_name for found in grp.getgrall() if found.gr_gid in numbers}


def _file(path: str) -> files.Entry:
    entry = files.read(path)
    if entry is None:
        raise DeviceError(f"{path} does not exist, so PAM would not ask it")
    return entry


def _block(path: str) -> str:
    text = _file(path).content or ""
    return (block(text) or "") if is_first(text) else ""

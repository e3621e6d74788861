# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for commands: a table of answers, and the list of commands that ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

Answer = Union[str, DeviceError]


class Answers:
    """Answers a command by the first key that its line starts with; an unknown command is an error of the test."""

    def __init__(self, table: Mapping[str, Answer]) -> None:
        self.table = dict(table)
        self.asked: list[str] = []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        line = " ".join(argv)
        self.asked.append(line)
        answer = next(self.table[key] for key in self.table if line.startswith(key))
        if isinstance(answer, DeviceError):
            raise answer
        return Completed(0, answer, "")


def show(
    load: str = "loaded", active: str = "active", enabled: str = "enabled", begun_us: int = 1, sub: str = "running"
) -> str:
    """What `systemctl show` prints of a unit (systemd 257, captured)."""
    states = f"LoadState={load}\nActiveState={active}\nSubState={sub}\nUnitFileState={enabled}\n"
    return f"{states}InactiveExitTimestampMonotonic={begun_us}\n"

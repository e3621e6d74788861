# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The output of `scontrol show node NAME -o` and `slurmd -C`: lines of Key=value; a reason may have blanks."""

from __future__ import annotations

import re

from ...core.converge import DeviceError
from ...nodes.scontrol import fields, state_flags
from .model import Machine
from .ready_plan import NodeState

_SOCKETS = re.compile(r"\(S:[0-9,-]+\)")


def machine(printed: str, gpus: int) -> Machine:
    """The machine in the output of `slurmd -C`. Raises DeviceError for other text."""
    found = fields(printed.splitlines()[0] if printed else "")
    try:
        sockets = int(found["Boards"]) * int(found["SocketsPerBoard"])
        return Machine(
            sockets, int(found["CoresPerSocket"]), int(found["ThreadsPerCore"]), int(found["RealMemory"]), gpus
        )
    except (KeyError, ValueError) as err:
        raise DeviceError(f"slurmd -C printed no machine: {printed.strip() or 'nothing'}") from err


def node(line: str) -> NodeState:
    """The node of one line. `gres` is without the sockets that Slurm adds."""
    found = fields(line)
    state, flags = state_flags(found)
    gres = _SOCKETS.sub("", found.get("Gres", "")).replace("(null)", "")
    return NodeState(found.get("NodeName", ""), state, flags, gres, found.get("Reason", ""))

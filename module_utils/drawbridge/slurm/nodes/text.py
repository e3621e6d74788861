# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `scontrol show node NAME -o` and `slurmd -C` print: lines of Key=value, where a reason may have blanks."""

from __future__ import annotations

import re

from ...core.converge import DeviceError
from ...nodes.scontrol import fields, state_flags
from .hardware_plan import Machine
from .ready_plan import NodeState

_SOCKETS = re.compile(r"\(S:[0-9,-]+\)")


def machine(printed: str, gpus: int) -> Machine:
    """What `slurmd -C` prints of this host. Raises DeviceError for anything else."""
    told = fields(printed.splitlines()[0] if printed else "")
    try:
        sockets = int(told["Boards"]) * int(told["SocketsPerBoard"])
        return Machine(sockets, int(told["CoresPerSocket"]), int(told["ThreadsPerCore"]), int(told["RealMemory"]), gpus)
    except (KeyError, ValueError) as err:
        raise DeviceError(f"slurmd -C printed no machine: {printed.strip() or 'nothing'}") from err


def node(line: str) -> NodeState:
    """The node of one line. `gres` comes without the sockets that Slurm adds to it."""
    told = fields(line)
    state, flags = state_flags(told)
    gres = _SOCKETS.sub("", told.get("Gres", "")).replace("(null)", "")
    return NodeState(told.get("NodeName", ""), state, flags, gres, told.get("Reason", ""))

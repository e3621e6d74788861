# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm with the use of QOS and GrpSubmitJobs of accounts, as 24.11.5 and 26.05.5 print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

DOWN = DeviceError("scontrol failed: slurm_load_assoc_mgr_info error: Unable to contact slurm controller")
QOS = "QOS={name}(3) UsageRaw={used}.000000 GrpWall=N(0.00) GrpTRESMins=gres/gpu=60(0) GrpTRESRunMins=gres/gpu=N(0)\n"


@dataclass
class Slurm:
    """Its daemons."""

    used: dict[str, int] = field(default_factory=dict)
    submits: dict[str, str] = field(default_factory=dict)
    down: bool = False
    deaf: bool = False
    """It reports success, and changes nothing."""
    cut: bool = False
    """It makes a change, and its answer is lost."""
    booted: int = 1
    changes: list[str] = field(default_factory=list)

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        """Answer a command. Raises DeviceError."""
        if self.down:
            raise DOWN
        words = {key: value for key, _sep, value in (word.partition("=") for word in argv)}
        if "assoc_mgr" in argv:
            named = [name for name in words["qos"].split(",") if name in self.used]
            return Completed(0, "".join(QOS.format(name=name, used=self.used[name]) for name in named), "")
        if "config" in argv:
            return Completed(0, f"BatchStartTimeout       = 10 sec\nBOOT_TIME               = {self.booted}\n", "")
        if "list" in argv:
            named = [name for name in words["account"].split(",") if name in self.submits]
            return Completed(0, "".join(f"{name}||{self.submits[name]}\n" for name in named), "")
        self.changes.append(" ".join(argv))
        if not self.deaf and "RawUsage" in words:
            self.used[words["name"]] = int(words["RawUsage"])
        elif not self.deaf:
            self.submits[words["name"]] = words["GrpSubmitJobs"]
        if self.cut:
            raise DOWN
        return Completed(0, "", "")

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""scontrol with slurmctld's rules for nodes, as Slurm 24.11's source has them, and its state in a file.

It needs nothing but Python, so that it can be a program. `faults` make it refuse, lie, hang, or kill its caller.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

USER = "root"


def new(name: str, state: str = "IDLE", reason: str = "", comment: str = "", **more: Any) -> dict[str, Any]:
    """A node. `since` is the time of its reason."""
    base, *flags = state.split("+")
    return {
        "name": name,
        "state": base,
        "flags": flags,
        "reason": reason,
        "since": 1000.0,
        "comment": comment,
        "boot": 500.0,
        **more,
    }


class Refused(Exception):
    """scontrol ends with 1."""


class Scontrol:
    """A cluster. `faults`: refuse (message by node), lie (kinds of calls), hang, kill_at (number of the update)."""

    def __init__(self, nodes: list[dict[str, Any]], **faults: Any) -> None:
        self.nodes = {it["name"]: it for it in nodes}
        self.faults: dict[str, Any] = faults
        self.calls: list[list[str]] = []
        self.now = 2000.0
        self.accounting = True

    @classmethod
    def load(cls, file: Path) -> Scontrol:
        found, shown = cls([]), json.loads(file.read_text())
        vars(found).update(shown)
        return found

    def save(self, file: Path) -> None:
        file.write_text(json.dumps(vars(self)))

    def call(self, words: list[str]) -> str:
        """The output of `scontrol WORDS`. Raises Refused."""
        self.calls.append(words)
        if self.faults.get("silent"):
            raise Refused("slurm_load_node error: Unable to contact slurm controller (connect failure)")
        if words[0] == "show":
            return self._show(words)
        if words[0] in self.faults.get("lie", ()):
            return ""
        if words[0] == "reboot":
            return self._reboot(words)
        values = {key: value for key, _sign, value in (word.partition("=") for word in words[1:])}
        return self._update(values.pop("nodename"), values)

    def _show(self, words: list[str]) -> str:
        names = [*self.nodes] if words[1] == "nodes" else [words[2]]
        return "".join(f"{self._line(self.nodes[name])}\n" for name in names)

    def _line(self, node: dict[str, Any]) -> str:
        state = "+".join([node["state"], *node["flags"]])
        reason = f" Reason={node['reason']} [{USER}@{node['since']:.0f}]" if node["reason"] else ""
        comment = f" Comment={node['comment']}" if node["comment"] else ""
        rest = f" ReservationName={node['reservation']}" if node.get("reservation") else ""
        return (
            f"NodeName={node['name']} Arch=x86_64 CoresPerSocket=1  OS=Linux 6.12.118 State={state} ThreadsPerCore=1 "
            f"NextState=IDLE Partitions=train  BootTime={node['boot']:.0f} SlurmdStartTime=1 CurrentWatts=0 AveWatts=0 "
            f"{reason}{comment}{rest}"
        )

    def _update(self, names: str, values: dict[str, str]) -> str:
        error = ""
        for name in expand(names):
            if name not in self.nodes:
                raise Refused("slurm_update error: Invalid node name specified")
            if name in self.faults.get("refuse", {}):
                error = self.faults["refuse"][name]
                continue
            self._change(self.nodes[name], values)
        if error:
            raise Refused(f"slurm_update error: {error}")
        return ""

    def _change(self, node: dict[str, Any], values: dict[str, str]) -> None:
        if "comment" in values:
            node["comment"] = values["comment"]
        if values.get("reason"):
            node["reason"], node["since"] = values["reason"], self.now
        state, flags = values.get("state"), set(node["flags"])
        if state == "drain":
            flags.add("DRAIN")
        elif state == "undrain":
            flags.discard("DRAIN")
        elif state == "resume":
            if node["state"] != "DOWN" and not flags & {"DRAIN", "REBOOT_REQUESTED"}:
                raise Refused("slurm_update error: Invalid node state specified")
            flags -= {"DRAIN", "FAIL", "REBOOT_REQUESTED", "REBOOT_ISSUED"}
            node["state"] = "IDLE" if node["state"] == "DOWN" else node["state"]
        node["flags"] = sorted(flags)
        if state in ("undrain", "resume") and self.accounting:
            node["reason"] = ""

    def _reboot(self, words: list[str]) -> str:
        if not self.faults.get("reboot_program", True):
            raise Refused("scontrol: error: RebootProgram isn't defined")
        reason = next(word.partition("=")[2] for word in words if word.startswith("reason="))
        for name in expand(words[-1]):
            node = self.nodes[name]
            node["flags"] = sorted({*node["flags"], "DRAIN", "REBOOT_REQUESTED"})
            node["reason"], node["since"] = reason, self.now
        return ""

    def issue(self, name: str) -> None:
        """slurmctld orders the reboot."""
        node = self.nodes[name]
        node["state"] = "DOWN"
        node["flags"] = sorted({*node["flags"], "REBOOT_ISSUED"} - {"REBOOT_REQUESTED"})
        node["reason"], node["since"] = f"{node['reason']} : reboot issued", self.now

    def boot(self, name: str) -> None:
        """The node is back from an ordered reboot: down, without its drain."""
        node = self.nodes[name]
        node["boot"] = self.now
        node["flags"] = sorted({*node["flags"]} - {"REBOOT_ISSUED", "DRAIN"})
        node["reason"], node["since"] = f"{node['reason']} : reboot complete", self.now + 60


def expand(names: str) -> list[str]:
    """A hostlist with ranges at the end of names, such as n[1-2,4],m1."""
    found: list[str] = []
    for part in names.replace("],", "] ").split():
        head, _bracket, inner = part.rstrip("]").partition("[")
        if not inner:
            found += head.split(",")
            continue
        *single, prefix = head.split(",")
        found += single
        for piece in inner.split(","):
            low, _dash, high = piece.partition("-")
            found += [f"{prefix}{at:0{len(low)}d}" for at in range(int(low), int(high or low) + 1)]
    return found


def main(file: Path, words: list[str]) -> int:
    """One call of the program."""
    slurm = Scontrol.load(file)
    updates = [it for it in slurm.calls if it[0] != "show"]
    if words[0] != "show" and slurm.faults.get("kill_at") == len(updates):
        os.kill(os.getppid(), signal.SIGKILL)
        return 1
    if slurm.faults.get("hang") == words[0]:
        time.sleep(600)
    try:
        sys.stdout.write(slurm.call(words))
    except Refused as err:
        sys.stderr.write(f"{err}\n")
        return 1
    finally:
        slurm.save(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))

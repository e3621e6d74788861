# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated nvidia-smi and nvidia-mig-parted of one host, with its systemd and Slurm: emulated_mig.py FOLDER TOOL ARGS.

Texts, exit codes and the order of work are those of nvidia-mig-parted 0.13.1 and its sources, and of NVIDIA's guide. A
file of the folder has the state and the faults, so that programs and calls in one process see the same host.

With `refuse` a program holds the GPUs. With `lie` apply only says that it succeeded. With `delete` it succeeds, and
then deletes all instances. With `die` the tool is killed after the first GPU. With `wait` modes change at the next
reset. With `text` the list has a line that no driver prints today.

A GPU with `parts` has GPU instances without compute instances, which a killed tool left.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PROFILES = {
    "1g.10gb": (1, 1, 7),
    "1g.20gb": (1, 2, 4),
    "2g.20gb": (2, 2, 3),
    "3g.40gb": (3, 4, 2),
    "4g.40gb": (4, 4, 1),
    "7g.80gb": (7, 8, 1),
}
"""Of an H100 with 80 GB: sevenths of the processors, eighths of the memory, and the most of them."""
WELL_FORMED = re.compile(r"\d+g\.\d+gb(\+[a-z.]+)?")
FATAL = 'time="2026-11-30T10:00:00Z" level=fatal msg="{}"\n'
APPLYING = "Error applying MIG configuration with hooks: error setting MIGConfig: {}"
APPLIED = "MIG configuration applied successfully\n"
EQUAL = "Selected MIG configuration currently applied\n"
MANAGER, SLURMD = "nvidia-mig-manager.service", "slurmd.service"
TOOLS = ("nvidia-smi", "nvidia-mig-parted", "systemctl", "journalctl", "pgrep", "squeue", "scontrol")
WRITES = (("nvidia-mig-parted", "apply"), ("systemctl", "disable"), ("systemctl", "restart"))


class Answer(NamedTuple):
    """What a tool printed, and its exit code."""

    rc: int = 0
    out: str = ""
    err: str = ""


class Killed(BaseException):
    """The tool was killed."""


class Host:
    """A host with some H100 GPUs, drained in Slurm and idle, whose slurmd has run for an hour."""

    def __init__(self, folder: Path, gpus: int = 2) -> None:
        self._file = folder / "host.json"
        if not self._file.exists():
            whole = {"now": False, "later": False, "capable": True, "instances": [], "parts": 0}
            slurmd = {"enabled": True, "active": True, "started": time.monotonic() - 3600}
            manager = {"enabled": False, "active": False, "started": 0.0}
            self._save(
                {
                    "gpus": [dict(whole) for _gpu in range(gpus)],
                    "units": {MANAGER: manager, SLURMD: slurmd},
                    **{"faults": [], "job": "", "steps": False, "drained": True, "invalid": False, "calls": []},
                }
            )

    def change(self, **values: Any) -> None:
        """Change parts of the state."""
        self._save({**self.state, **values})

    @property
    def state(self) -> dict[str, Any]:
        """All of the state."""
        return json.loads(self._file.read_text())

    def instances(self) -> list[list[str]]:
        """Of each GPU."""
        return [sorted(gpu["instances"]) for gpu in self.state["gpus"]]

    def set_gpu(self, index: int, *instances: str, **values: Any) -> None:
        """Change one GPU; with instances it is divided."""
        gpus = self.state["gpus"]
        modes = {"now": True, "later": True} if instances else {}
        gpus[index] |= {"instances": list(instances), **modes, **values}
        self.change(gpus=gpus)

    def set_unit(self, name: str, **values: Any) -> None:
        """Change a unit."""
        units = self.state["units"]
        units[name] |= values
        self.change(units=units)

    def boot(self) -> None:
        """Boot: instances and modes are lost, and slurmd has not started yet."""
        for index in range(len(self.state["gpus"])):
            self.set_gpu(index, now=False, later=False, parts=0)
        self.set_unit(SLURMD, active=False)
        self.change(calls=[])

    def writes(self) -> list[str]:
        """Calls that change something."""
        return [" ".join(argv) for argv in self.state["calls"] if tuple(argv[:2]) in WRITES]

    def call(self, argv: Sequence[str], text: str = "") -> Answer:
        """Be a tool."""
        tool, *words = [argv[0].rsplit("/", 1)[-1], *argv[1:]]
        state = self.state
        state["calls"].append([tool, *words])
        try:
            return Tools(state).run(tool, words, text)
        finally:
            self._save(state)

    def _save(self, state: dict[str, Any]) -> None:
        self._file.write_text(json.dumps(state))


class Tools:
    """The tools, on a state that they change."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state, self.gpus = state, state["gpus"]

    def run(self, tool: str, words: list[str], text: str) -> Answer:
        """One call."""
        if tool == "nvidia-smi":
            return self._list() if words == ["--list-gpus"] else self._modes()
        if tool == "nvidia-mig-parted":
            return self._mig_parted(words, text)
        if tool == "systemctl":
            return self._systemctl(words)
        if tool == "pgrep":
            return Answer(out="4711\n") if self.state["steps"] else Answer(1)
        if tool == "squeue":
            return Answer(out=self.state["job"])
        if tool == "scontrol":
            flags = {"DRAIN": self.state["drained"], "INVALID_REG": self.state["invalid"]}
            state = "+".join(["IDLE", *(flag for flag, given in flags.items() if given)])
            return Answer(out=f"NodeName=gpu01 State={state} Reason=none\n")
        return Answer()

    def fault(self, name: str) -> bool:
        """Whether a fault is armed; it acts once."""
        if name not in self.state["faults"]:
            return False
        self.state["faults"].remove(name)
        return True

    def _list(self) -> Answer:
        lines = []
        for index, gpu in enumerate(self.gpus):
            lines.append(f"GPU {index}: NVIDIA H100 80GB HBM3 (UUID: GPU-{index})")
            if gpu.get("lost"):
                lines[-1] = "Unable to determine the device handle for GPU0: GPU is lost"
            for at, profile in enumerate(gpu["instances"]):
                lines.append(f"  MIG {profile:<10}     Device {at:>2}: (UUID: MIG-{index}-{at})")
        lines += ["  NewThing 7: on"] if "text" in self.state["faults"] else []
        return Answer(15 if any(gpu.get("lost") for gpu in self.gpus) else 0, "".join(f"{line}\n" for line in lines))

    def _modes(self) -> Answer:
        words = {True: "Enabled", False: "Disabled"}
        rows = [(words[gpu["now"]], words[gpu["later"]]) if gpu["capable"] else ("[N/A]",) * 2 for gpu in self.gpus]
        return Answer(out="".join(f"{index}, {now}, {later}\n" for index, (now, later) in enumerate(rows)))

    def _mig_parted(self, words: list[str], text: str) -> Answer:
        assert words[1:] == ["-f", "-", "-c", "drawbridge"], words
        layouts: dict[int, dict[str, Any]] = {}
        for entry in json.loads(text)["mig-configs"]["drawbridge"]:
            if bad := [name for name in entry["mig-devices"] if not WELL_FORMED.fullmatch(name)]:
                return self._fatal(f"Error parsing config file: invalid format for '{bad[0]}'")
            layouts |= dict.fromkeys(entry["devices"], entry)
        if words[0] == "assert":
            if self._equal(layouts):
                return Answer(out=EQUAL)
            return self._fatal("Assertion failure: selected configuration not currently applied")
        return self._apply(layouts)

    def _equal(self, layouts: dict[int, dict[str, Any]]) -> bool:
        return len(layouts) == len(self.gpus) and all(
            not gpu["capable"] or (gpu["now"], Counter(gpu["instances"])) == (it["mig-enabled"], it["mig-devices"])
            for gpu, it in ((self.gpus[index], it) for index, it in layouts.items())
        )

    def _apply(self, layouts: dict[int, dict[str, Any]]) -> Answer:
        if self.fault("lie"):
            return Answer(out=APPLIED)
        if self.fault("refuse"):
            return self._fatal(APPLYING.format("error destroying Compute instance for profile '(2, 0)': ERROR_IN_USE"))
        changed = [index for index, it in layouts.items() if self.gpus[index]["now"] != it["mig-enabled"]]
        waits = self.fault("wait")
        # with one other mode it clears all GPUs
        for index in layouts if changed else ():
            self.gpus[index] |= {"instances": [], "parts": 0, "later": layouts[index]["mig-enabled"]}
            self.gpus[index]["now"] = self.gpus[index]["now" if waits else "later"]
        if waits:
            return self._fatal("Error applying MIG configuration with hooks: error resetting all GPUs: exit status 1")
        dies = self.fault("die")
        for index, it in sorted(layouts.items()):
            failure = self._create(self.gpus[index], it["mig-devices"] if it["mig-enabled"] else {})
            if failure:
                return self._fatal(APPLYING.format(failure))
            if dies:
                return Answer(-9)
        for gpu in self.gpus if self.fault("delete") else ():
            gpu["instances"] = []
        return Answer(out=APPLIED)

    def _create(self, gpu: dict[str, Any], wanted: dict[str, int]) -> str:
        """Make the instances of one GPU; a profile that it lacks deletes all."""
        if Counter(gpu["instances"]) == wanted:
            return ""
        gpu["instances"] = []
        if any(name not in PROFILES for name in wanted):
            return ""
        parts, gpu["parts"] = gpu["parts"], 0
        used = [sum(PROFILES[name][at] * count for name, count in wanted.items()) for at in (0, 1)]
        many = any(count > PROFILES[name][2] for name, count in wanted.items())
        if parts or used[0] > 7 or used[1] > 8 or many:
            return "error attempting multiple config orderings: all orderings failed"
        gpu["instances"] = [name for name, count in wanted.items() for _one in range(count)]
        return ""

    def _systemctl(self, words: list[str]) -> Answer:
        unit = self.state["units"].get(words[-1])
        if words[0] == "disable":
            unit["enabled"] = False
        elif words[0] == "restart":
            unit |= {"active": True, "started": time.monotonic()}
        else:
            known = unit or {"enabled": False, "active": False, "started": 0.0}
            values = {
                "LoadState": "loaded" if unit else "not-found",
                "ActiveState": "active" if known["active"] else "inactive",
                "SubState": "running" if known["active"] else "dead",
                "UnitFileState": "enabled" if known["enabled"] else "disabled",
                "InactiveExitTimestampMonotonic": int(known["started"] * 1e6),
            }
            return Answer(out="".join(f"{key}={value}\n" for key, value in values.items()))
        return Answer()

    @staticmethod
    def _fatal(text: str) -> Answer:
        return Answer(1, "", FATAL.format(text))


def program(folder: Path, tool: str) -> str:
    """The lines of a shell program that is a tool of the host in this folder."""
    return f'exec {sys.executable} -IS {Path(__file__).resolve()} {folder} {tool} "$@"'


def install(folder: Path, place: Callable[[str, str], None]) -> Host:
    """Make a host whose tools are programs."""
    for tool in TOOLS:
        place(tool, program(folder, tool))
    return Host(folder)


if __name__ == "__main__":
    answer = Host(Path(sys.argv[1])).call(sys.argv[2:], "" if sys.argv[2] != TOOLS[1] else sys.stdin.read())
    sys.stdout.write(answer.out)
    sys.stderr.write(answer.err)
    sys.exit(answer.rc)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What each part of a run of the tests took: build/test/times.json, with the last ten runs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from lab.hosts.cgroups import hierarchy

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = ROOT / "tests/budgets.yml"
RUNS = 10
"""Runs that the history keeps."""
SLOWEST = 10
POLL_S = 0.1
HISTORY = "history"


@dataclass
class Spent:
    """What a part took."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    """The processor time of its commands, without that of a lab."""
    commands: dict[str, float] = field(default_factory=dict)
    """Seconds of each of its commands by the clock, by name."""
    lab_s: float = 0.0
    """That of its labs: hosts with their daemons and modules, and switches."""


class LabTime:
    """The processor time of labs, which end and begin anew while it adds up."""

    def __init__(self, labs: Sequence[int], root: Path | None = None) -> None:
        """`root` is where cgroup2 is mounted; found when not given."""
        root = root or hierarchy(Path("/proc/self/mountinfo").read_text()) or Path()
        groups = [root / f"drawbridge-lab/{number}/{group}" for number in labs for group in ("hosts", "keeper")]
        self._last = {group / "cpu.stat": 0.0 for group in groups}
        self.total_s = 0.0

    def look(self) -> None:
        """Add the time since the last look. The time between the last look and the end of a lab is lost."""
        for file, before in self._last.items():
            try:
                words = file.read_text().split()
            except OSError:
                words = ["usage_usec", "0"]
            used_s = int(words[words.index("usage_usec") + 1]) / 1e6
            self.total_s += used_s - before if used_s >= before else used_s
            self._last[file] = used_s


def machine_s() -> float:
    """The processor time that the machine has used since its boot (proc_stat(5)), without what others took from it."""
    user, nice, system, _idle, _iowait, irq, softirq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def commit() -> str:
    """The commit of the tree, in short; with a plus if files differ from it."""
    argv = ("git", "describe", "--always", "--dirty=+", "--exclude=*")
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def over_budget(name: str, spent: Spent) -> str:
    """A remark on a part that took more processor time than tests/budgets.yml has for it. It fails nothing."""
    budgets = {entry["part"]: entry["at_most"] for entry in yaml.safe_load(BUDGETS.read_text())["parts"]}
    at_most = budgets.get(name)
    return f"  (budget {at_most})" if at_most is not None and spent.cpu_s > at_most else ""


def wait(process: subprocess.Popen[bytes], until: float, look: Callable[[], None] = lambda: None) -> float:
    """Wait for a program until a moment of the monotonic clock; the processor time of it and its children.

    Meanwhile it calls `look` again and again. Raises TimeoutExpired.
    """
    while True:
        look()
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        if time.monotonic() >= until:
            raise subprocess.TimeoutExpired(process.args, 0)
        time.sleep(POLL_S)


def name_of(command: Sequence[str]) -> str:
    """What a table calls a command: the scenario, the folder of tests, or the program."""
    words = [Path(command[0]).name, *command[1:]]
    if "-s" in words and words[0] == "molecule":
        return words[words.index("-s") + 1]
    if "-m" in words and words[0] == "python":
        module = words[words.index("-m") + 1]
        return words[-1] if module == "pytest" else module
    return " ".join(words[:2])


def write(file: Path, parts: Mapping[str, Spent], commit: str) -> None:
    """Write the times of this run, and add it to the history. A part that did not run keeps its last times."""
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    made = datetime.now(UTC).isoformat(timespec="seconds")
    load = round(os.getloadavg()[0], 1)
    rows = {name: {**_rounded(spent), "made": made} for name, spent in parts.items()}
    run = {
        "made": made,
        "commit": commit,
        "load": load,
        "parts": {name: round(it.wall_s) for name, it in parts.items()},
    }
    history = [*known.pop(HISTORY, []), run][-RUNS:]
    text = json.dumps({**known, **rows, HISTORY: history}, indent=1)
    file.write_text(f"{text}\n")


def share(parts: Mapping[str, Spent], used_s: float) -> str:
    """How much of the processor time that the machine used was for the parts: a busy machine makes times longer."""
    own = sum(it.cpu_s + it.lab_s for it in parts.values())
    return f"{used_s:7.0f}  of processor time used, {own / used_s:.0%} of it by these parts" if used_s else ""


def slowest(parts: Mapping[str, Spent]) -> list[str]:
    """The slowest commands of all parts, as lines of a table."""
    every = [(seconds, name, part) for part, spent in parts.items() for name, seconds in spent.commands.items()]
    return [f"{seconds:7.0f}  {part}: {name}" for seconds, name, part in sorted(every, reverse=True)[:SLOWEST]]


def _rounded(spent: Spent) -> dict[str, Any]:
    plain = asdict(spent)
    return {
        "wall_s": round(plain["wall_s"]),
        "cpu_s": round(plain["cpu_s"]),
        "lab_s": round(plain["lab_s"]),
        "commands": {name: round(seconds) for name, seconds in plain["commands"].items()},
    }

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make test`: every part with its time, some at once, all of them even when one fails.

Parts named on the command line run alone: `make test PARTS="lint unit"`. `make check` runs those of DAILY.
Parts of ON_DEMAND run when they are named.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

from tests.old_python import node_side
from tests.processes import end
from tests.times import Spent, name_of, slowest, wait, write

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
LOGS = ROOT / "build/test"
FIRST_LAB = 60
"""Lab ids from here on belong to molecule scenarios and those right below to other parts, never to a person's lab."""
CHAINS = (
    ("gpu_operator", "rdma_plugin", "kube_node", "kubelet_numa"),
    ("slurm_controller", "slurm_node", "slurm_login"),
)
"""Scenarios that go on, in this order, with the hosts of the ones before: each runs alone as well, but boots anew."""
LONG = ("slurm_gate", "gpu_operator", "drawbridge_run", "default", "slurm_controller", "chaos")
"""Words of parts that have a lab for long, those before that wait more than they compute."""
CHECK, DAILY = "check", ("lint", "types", "unit", "conformance")
"""What needs no lab and ends in minutes, with all unit tests on today's Python."""
ON_DEMAND = ("mutants", "molecule rails")
"""What is slow and seldom red; CONTRIBUTING.md says when each was last seen."""
SCHEDULES = 1000
"""Of the explorer: `make explore` runs all, and tells which calls no fault has reached."""
LIMIT_S = 3600
"""What a part may take, some times as long as any does: one that hangs must not keep the table from those who wait."""
AT_ONCE = 3
"""Parts at a time: two cores, and every part waits now and then."""
LATE = -1000
"""Stands for the return code of what was killed, or not begun, because the part's time was over."""
DOWN_S, LAST_WORDS_S = 120, 10
DOWN = (str(BIN / "python"), "lab/lab", "down")


Command = tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """Commands that stand for one line of the table."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    labs: tuple[int, ...] = ()
    """Ids of the labs whose hosts it boots; the first is the one that its commands are told."""


@dataclass(frozen=True)
class Result:
    """How a part ended."""

    name: str
    passed: bool
    spent: Spent


def python(*args: str) -> tuple[str, ...]:
    return (str(BIN / "python"), *args)


def molecule(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The commands of a scenario, or of a chain, whose hosts stay until its end."""
    program = str(BIN / "molecule")
    if len(names) == 1:
        return ((program, "test", "-s", names[0]),)
    # molecule would boot nothing where it remembers hosts of an earlier run
    forget = (program, "reset", *(word for name in names for word in ("-s", name)))
    return (forget, *((program, "test", "--destroy", "never", "-s", name) for name in names), DOWN)


def chains(scenarios: list[str]) -> list[Sequence[str]]:
    """Chains, and scenarios one by one."""
    chained = {name for chain in CHAINS for name in chain}
    return [*CHAINS, *([name] for name in scenarios if name not in chained)]


def rank(part: Part) -> int:
    """Where a part with a lab stands among the others."""
    return next((at for at, word in enumerate(LONG) if word in part.name.split()), len(LONG))


def parts(daily: bool = False) -> list[Part]:
    """All parts, or those of every day; long ones first, so that the last minutes are not one part alone."""
    pytest = python("-m", "pytest", "-q", "--durations=5")
    scenarios = sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml"))
    lint = (
        (str(BIN / "ruff"), "check", "."),
        (str(BIN / "ruff"), "format", "--check", "."),
        (str(BIN / "ansible-lint"), "--offline", "-q"),
        (str(BIN / "antsibull-changelog"), "lint"),
    )
    # what every line of a policy is there for, tests/attacks/test_teeth.py, takes minutes and is run when one changes
    # what runs on nodes is tested once, on the oldest Python; hosts of labs run it on today's
    controllers = (f"--ignore={path.relative_to(ROOT)}" for path in ([] if daily else node_side.tests()))
    guards = tuple(f"tests/attacks/test_{name}.py" for name in ("adoption", "attacks", "run_workloads"))
    labs = [
        *(
            Part(f"molecule {' '.join(names)}", molecule(names), (FIRST_LAB + index,))
            for index, names in enumerate(chains(scenarios))
        ),
        Part("chaos", (python("-m", "tests.chaos", "--ci"),), (FIRST_LAB - 2,)),
        Part("hosts", ((*pytest, "-m", "live", "tests/lab"),), (FIRST_LAB - 5, FIRST_LAB - 4)),
        Part("attacks", ((*pytest, "-m", "live", *guards),), (FIRST_LAB - 3,)),
    ]
    others = [
        Part("explorer", (python("-m", "tests.explorer", "--schedules", str(SCHEDULES)),)),
        Part("lab", ((*pytest, "-m", "not live", "-n", "2", "--dist", "loadfile", "tests/lab"),)),
        Part("unit", ((*pytest, "-n", "2", "--dist", "worksteal", *controllers, "tests/unit"),)),
        Part("mutants", (python("-m", "tests.mutants"),)),
        Part("old-python", (python("-m", "tests.old_python"),)),
        Part("alerts", ((*pytest, "tests/alerts"),)),
        Part("collection", ((*pytest, "tests/collection"),)),
        Part("old-ansible", (python("-m", "tests.old_ansible"),)),
        # pylint takes most of its time, and ruff and pyright look at the same files
        Part("sanity", (python("-m", "tests.sanity", "--skip-test", "pylint"),)),
        Part("lint", lint),
        Part("types", ((str(BIN / "pyright"),),)),
        Part("conformance", ((*pytest, "tests/conformance"),)),
    ]
    if daily:
        return [part for part in others if part.name in DAILY]
    labs.sort(key=rank)
    # a lab takes its share of the processors as long as it is up, so what needs none runs beside two of them
    return [*labs[:2], *others, *labs[2:]]


def words(part: Part) -> set[str]:
    """What names it on the command line."""
    return {part.name, *part.name.split()}


def run(part: Part, live: bool) -> Result:
    """Run a part; its output goes to a log, and to the terminal when it runs alone or has failed."""
    log = LOGS / f"{part.name.replace(' ', '-')}.log"
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    env["CI"] = "true"  # hypothesis sets no deadlines then: parts share two cores
    env |= {"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1"}
    if part.labs:
        env["LAB_ID"] = str(part.labs[0])
    start = time.monotonic()
    say(f"{part.name}: started")
    with log.open("w") as file:
        # what a killed run has left keeps labs of the same number from starting
        codes = no_labs(part, env, file, live)
        spent = Spent()
        codes += [timed(command, env, file, live, start + LIMIT_S, spent) for command in part.commands]
        if LATE in codes:
            no_labs(part, env, file, live)
    passed, spent.wall_s = not any(codes), time.monotonic() - start
    if not (live or passed):
        say(f"{part.name}: the end of {log.relative_to(ROOT)}\n{log.read_text()[-8000:]}")
    say(f"{part.name}: {'passed' if passed else 'FAILED'} in {spent.wall_s:.0f} s")
    return Result(part.name, passed, spent)


def no_labs(part: Part, env: dict[str, str], file: TextIO, live: bool) -> list[int]:
    """Take the part's labs away, whoever has made them; a return code for each."""
    told = [{**env, "LAB_ID": str(number)} for number in part.labs]
    return [stream(DOWN, each, file, live, time.monotonic() + DOWN_S)[0] for each in told]


def timed(command: Command, env: dict[str, str], file: TextIO, live: bool, until: float, spent: Spent) -> int:
    """Run a command of a part, add to what the part spent, and return its code."""
    start = time.monotonic()
    code, cpu_s = stream(command, env, file, live, until)
    spent.commands[name_of(command)] = time.monotonic() - start
    spent.cpu_s += cpu_s
    return code


def stream(command: Command, env: dict[str, str], file: TextIO, live: bool, until: float) -> tuple[int, float]:
    """Run a command, its output to a file and perhaps to the terminal.

    Returns its code, or LATE at that moment, and its processor time.
    """
    if time.monotonic() >= until:
        return LATE, 0.0
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    # by a thread: somebody who has left the program's family may keep the pipe open when all of it is killed
    copier = threading.Thread(target=copy, args=(process.stdout, file, live), daemon=True)
    copier.start()
    try:
        cpu_s = wait(process, until)
        return process.returncode, cpu_s
    except subprocess.TimeoutExpired:
        end(process.pid)
        process.wait()
        say(f"{' '.join(command)} was killed: a part may take {LIMIT_S} s")
        return LATE, 0.0
    finally:
        copier.join(LAST_WORDS_S)


def copy(source: IO[bytes], file: TextIO, live: bool) -> None:
    """Lines to a file, as long as it is open, and perhaps to the terminal."""
    with contextlib.suppress(ValueError):
        for line in source:
            text = line.decode(errors="replace")
            file.write(text)
            if live:
                sys.stdout.write(text)


def say(line: str) -> None:
    """One line of progress."""
    print(f"== {line}", flush=True)


def main(names: list[str]) -> int:
    """Run the parts that a word of theirs names, or all but those of ON_DEMAND; the table of times comes last."""
    LOGS.mkdir(parents=True, exist_ok=True)
    if names == [CHECK]:
        chosen, names = parts(daily=True), []
    else:
        chosen = [part for part in parts() if (set(names) & words(part) if names else part.name not in ON_DEMAND)]
    if unknown := set(names) - {word for part in parts() for word in words(part)}:
        say(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(part.name for part in parts())}")
        return 2
    start = time.monotonic()
    if any(part.labs for part in chosen) and prepare():
        return 1
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        results = list(pool.map(lambda part: run(part, live=len(chosen) == 1), chosen))
    report({result.name: result.spent for result in results}, [it.name for it in results if not it.passed])
    print(f"{time.monotonic() - start:7.0f}  in all, {AT_ONCE} parts at a time")
    failed = sum(not result.passed for result in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def report(spent: dict[str, Spent], failed: list[str]) -> None:
    """Print what the parts took and which commands took most, and keep it."""
    print("\nseconds  processor  part")
    for name, it in spent.items():
        print(f"{it.wall_s:7.0f}  {it.cpu_s:9.0f}  {name}{'  FAILED' if name in failed else ''}")
    print("\n".join(["\nseconds  slowest commands", *slowest(spent), ""]))
    commit = ("git", "rev-parse", "--short", "HEAD")
    at = subprocess.run(commit, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    write(LOGS / "times.json", spent, at)


def prepare() -> int:
    """Install what the lab needs and build its image and tools once, so that no part waits for another's build."""
    for command in (python("lab/lab", "requirements", "--install"), python("lab/lab", "build")):
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            say(f"{' '.join(command[1:])} failed, and without it there is no lab")
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

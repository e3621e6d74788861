# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make test`: every part with its time, some at once, all of them even when one fails.

Parts named on the command line run alone: `make test PARTS="lint unit"`. `make check` runs the quick ones. Those of
`make nightly` run one by one, and tests/nightly.yml gets what passed, when and at which commit.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

from tests import nights
from tests.parts import BIN, DOWN, ROOT, Command, Part, daily, every_run, nightly, python
from tests.processes import end
from tests.reasons import reasons
from tests.times import LabTime, Spent, commit, machine_s, name_of, over_budget, share, slowest, wait, write

LOGS = ROOT / "build/test"
CHECK, NIGHTLY = "check", "nightly"
AT_ONCE = 3
"""Parts at a time: two cores, and every part waits now and then."""
LATE = -1000
"""The return code of a command that was killed, or not begun, because the part's time was over."""
DOWN_S, LAST_WORDS_S = 120, 10


@dataclass(frozen=True)
class Result:
    """How a part ended."""

    name: str
    passed: bool
    spent: Spent


def run(part: Part, live: bool) -> Result:
    """Run a part; its output goes to a log, and to the terminal when it runs alone or has failed."""
    log = log_of(part.name)
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    env["CI"] = "true"  # hypothesis sets no deadlines then: parts share two cores
    env |= {"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1"}
    if part.labs:
        env["LAB_ID"] = str(part.labs[0])
    if part.site:
        env["LAB_SITE"] = part.site
    start = time.monotonic()
    say(f"{part.name}: started")
    with log.open("w") as file:
        # what a killed run has left keeps labs of the same number from starting
        codes = no_labs(part, env, file, live)
        spent, labs = Spent(), LabTime(part.labs)
        codes += [timed(command, env, file, live, start + part.limit_s, spent, labs) for command in part.commands]
        spent.lab_s = labs.total_s
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


def timed(
    command: Command, env: dict[str, str], file: TextIO, live: bool, until: float, spent: Spent, labs: LabTime
) -> int:
    """Run a command of a part, add to what the part spent, and return its code."""
    start = time.monotonic()
    code, cpu_s = stream(command, env, file, live, until, labs.look)
    spent.commands[name_of(command)] = time.monotonic() - start
    spent.cpu_s += cpu_s
    return code


def stream(
    command: Command,
    env: dict[str, str],
    file: TextIO,
    live: bool,
    until: float,
    look: Callable[[], None] = lambda: None,
) -> tuple[int, float]:
    """Run a command, its output to a file and perhaps to the terminal; `look` is called meanwhile.

    Returns its code, or LATE at that moment, and its processor time.
    """
    if time.monotonic() >= until:
        return LATE, 0.0
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    # by a thread: a process that has left the program's group may keep the pipe open when all of it is killed
    copier = threading.Thread(target=copy, args=(process.stdout, file, live), daemon=True)
    copier.start()
    try:
        cpu_s = wait(process, until, look)
        return process.returncode, cpu_s
    except subprocess.TimeoutExpired:
        end(process.pid)
        process.wait()
        say(f"{' '.join(command)} was killed: the part's time was over")
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


def main(names: Sequence[str]) -> int:
    """Run the parts that a word of theirs names, or those of every run, or of the night; a table comes last."""
    LOGS.mkdir(parents=True, exist_ok=True)
    known = [*every_run(), *nightly()]
    if unknown := set(names) - {CHECK, NIGHTLY} - {word for part in known for word in part.words}:
        say(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(part.name for part in known)}")
        return 2
    lists = {(): every_run, (CHECK,): daily, (NIGHTLY,): nightly}
    whole = lists.get(tuple(names))
    chosen = whole() if whole else [part for part in known if set(names) & part.words]
    if any(part.labs for part in chosen) and prepare():
        return 1
    start, used_s = time.monotonic(), machine_s()
    at_once = 1 if whole is nightly else AT_ONCE
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        results = list(pool.map(lambda part: run(part, live=len(chosen) == 1), chosen))
    at_night = {part.name for part in nightly()}
    nights.note({it.name: (it.passed, it.spent.wall_s) for it in results if it.name in at_night}, commit())
    spent = {result.name: result.spent for result in results}
    failed = [it.name for it in results if not it.passed]
    report(spent, failed)
    print(f"{time.monotonic() - start:7.0f}  in all, {at_once} at a time")
    print(share(spent, machine_s() - used_s))
    print(f"\n{len(results) - len(failed)} passed, {len(failed)} failed")
    for name in failed:
        print("\n".join([f"{name} ({log_of(name).relative_to(ROOT)}):", *reasons(log_of(name).read_text())]))
    return 1 if failed else 0


def log_of(part: str) -> Path:
    """Where the output of a part goes."""
    return LOGS / f"{part.replace(' ', '-')}.log"


def report(spent: dict[str, Spent], failed: list[str]) -> None:
    """Print what the parts took and which commands took most, and keep it."""
    print("\nseconds  processor  of labs  part")
    for name, it in spent.items():
        remark = "  FAILED" if name in failed else over_budget(name, it)
        print(f"{it.wall_s:7.0f}  {it.cpu_s:9.0f}  {it.lab_s:7.0f}  {name}{remark}")
    print("\n".join(["\nseconds  slowest commands", *slowest(spent), ""]))
    write(LOGS / "times.json", spent, commit())


def prepare() -> int:
    """Install what the lab needs and build its image and tools once, so that no part waits for another's build."""
    for command in (python("lab/lab", "requirements", "--install"), python("lab/lab", "build")):
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            say(f"{' '.join(command[1:])} failed, and without it there is no lab")
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

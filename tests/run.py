# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make test`: every part in order, each with its time, all of them even when one fails.

Parts named on the command line run alone: `make test PARTS="lint unit"`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
LOGS = ROOT / "build/test"
FIRST_LAB = 60
"""Lab ids from here on belong to molecule scenarios, so that they never meet a person's lab."""


@dataclass(frozen=True)
class Part:
    """Commands that stand for one line of the table."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    lab_id: int | None = None


@dataclass(frozen=True)
class Result:
    """How a part ended."""

    name: str
    passed: bool
    seconds: float


def python(*args: str) -> tuple[str, ...]:
    return (str(BIN / "python"), *args)


def parts() -> list[Part]:
    """All parts, in the order in which they run."""
    pytest = python("-m", "pytest", "-q", "--durations=5")
    lab_requirements = python("lab/lab", "requirements", "--install")
    scenarios = sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml"))
    return [
        Part(
            "lint",
            (
                (str(BIN / "ruff"), "check", "."),
                (str(BIN / "ruff"), "format", "--check", "."),
                (str(BIN / "ansible-lint"), "--offline", "-q"),
            ),
        ),
        Part("types", ((str(BIN / "pyright"),),)),
        Part("unit", ((*pytest, "tests/unit"),)),
        Part("conformance", ((*pytest, "tests/conformance"),)),
        Part("lab", (lab_requirements, (*pytest, "tests/lab"))),
        *(
            Part(f"molecule {name}", ((str(BIN / "molecule"), "test", "-s", name),), FIRST_LAB + index)
            for index, name in enumerate(scenarios)
        ),
    ]


def run(part: Part, live: bool) -> Result:
    """Run a part; its output goes to a log, and to the terminal when it runs alone."""
    log = LOGS / f"{part.name.replace(' ', '-')}.log"
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    env["ANSIBLE_NOCOLOR"] = "1"
    if part.lab_id is not None:
        env["LAB_ID"] = str(part.lab_id)
    start = time.monotonic()
    passed = True
    with log.open("w") as file:
        for command in part.commands:
            process = subprocess.Popen(
                command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            assert process.stdout is not None
            for line in process.stdout:
                text = line.decode(errors="replace")
                file.write(text)
                if live:
                    sys.stdout.write(text)
            passed = process.wait() == 0 and passed
    seconds = time.monotonic() - start
    if not live:
        tail = "" if passed else log.read_text()[-6000:]
        print(f"{tail}\n== {part.name}: {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
    return Result(part.name, passed, seconds)


def main(names: list[str]) -> int:
    """Run the parts whose first word is named, or all; the table of times comes last."""
    LOGS.mkdir(parents=True, exist_ok=True)
    chosen = [part for part in parts() if not names or part.name.split()[0] in names or part.name in names]
    start = time.monotonic()
    results = []
    for part in (part for part in chosen if part.lab_id is None):
        print(f"== {part.name}", flush=True)
        results.append(run(part, live=True))
    scenarios = [part for part in chosen if part.lab_id is not None]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results += pool.map(lambda part: run(part, live=len(scenarios) == 1), scenarios)
    print("\nseconds  part")
    for result in results:
        print(f"{result.seconds:7.0f}  {result.name}{'' if result.passed else '  FAILED'}")
    print(f"{time.monotonic() - start:7.0f}  in all")
    failed = sum(not result.passed for result in results)
    print(f"\n{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

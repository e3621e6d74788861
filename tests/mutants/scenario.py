# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Defects that only a booted lab shows: a molecule scenario is built with each of them, and one of its tests heard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants.table import Seen

BIN = Path(sys.executable).parent
LAB_ID = "58"
"""Where LAB_ID names none: below the ids of `make test`."""


def hear(test: str, root: Path) -> list[Seen]:
    """Build the test's scenario, run the test alone, take the hosts down. A scenario that does not stand is seen so."""
    scenario, report = Path(test).parts[1], root / "build/mutants.xml"
    report.unlink(missing_ok=True)
    name = test.partition("::")[2]
    environment = {
        **os.environ,
        "LAB_ID": os.environ.get("LAB_ID", LAB_ID),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PYTEST_ADDOPTS": f"-k {name} --junit-xml={report}",
    }
    argv = [str(BIN / "molecule"), "{}", "-s", scenario]
    try:
        for verb in ("destroy", "create", "converge"):
            if subprocess.run([*argv[:1], verb, *argv[2:]], cwd=root, env=environment, check=False).returncode:
                return [Seen(test, verb, "failed", "")]
        subprocess.run([*argv[:1], "verify", *argv[2:]], cwd=root, env=environment, check=False)
        return seen(test, report.read_text()) if report.is_file() else []
    finally:
        subprocess.run([*argv[:1], "destroy", *argv[2:]], cwd=root, env=environment, check=False)


def seen(test: str, report: str) -> list[Seen]:
    """What a report of pytest tells of a test: a failure is one of the test's own, an error is not."""
    found = []
    for case in ElementTree.fromstring(report).iter("testcase"):
        if (case.get("name") or "").partition("[")[0] != test.partition("::")[2]:
            continue
        kinds = {part.tag for part in case}
        if "failure" in kinds:
            found.append(Seen(test, "call", "failed", "AssertionError"))
        elif kinds & {"error", "skipped"}:
            found.append(Seen(test, "setup", min(kinds), ""))
        else:
            found.append(Seen(test, "call", "passed", ""))
    return found

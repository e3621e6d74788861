# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand: forty drifts over all layers. A check names each of them and nothing else, and a run repairs all.

DRAWBRIDGE_RECORD=tests/recordings/drift.json.gz writes the recording of that check anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.paths import REPOSITORY
from tests.recordings.drifts import DRIFTS, Drift, differences

from .conftest import Lab

NONE, DRIFT = 0, 3
COMMAND = REPOSITORY / "roles/drawbridge_status/files/drawbridge"
NODES = "gpu[01-04]"
SWITCHES = ("leaf", "spine")


def plant(lab: Lab, drift: Drift) -> None:
    """Type it, as a person would: on a switch into its configuration mode, without saving it."""
    host = drift.typed_on or drift.host
    if host.startswith(SWITCHES):
        lines = ["enable", "configure", *drift.plant.split("; "), "end", "exit", ""]
        lab.ssh(host, "", stdin="\n".join(lines))
    else:
        lab.ssh(host, drift.plant)


def check(folder: Path) -> tuple[int, dict[str, Any]]:
    """Exit code and report of `drawbridge drift`."""
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if "DRAWBRIDGE_RECORD" in env:
        env["ANSIBLE_CALLBACK_PLUGINS"] = "tests/recordings"
        env["ANSIBLE_CALLBACKS_ENABLED"] = "drawbridge.drawbridge.report,record"
    argv = [str(COMMAND), "drift", "--state", str(folder), "--", "-i", "inventories/lab"]
    done = subprocess.run(argv, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (NONE, DRIFT), done.stdout[-4000:] + done.stderr[-4000:]
    return done.returncode, json.loads((folder / "drift.json").read_text())


@pytest.fixture
def drifted(lab: Lab) -> Iterator[None]:
    """A site with all of them; the person ends the drain that is one of them."""
    for drift in reversed(DRIFTS):  # the drain is the last row, and keeps the health check quiet
        plant(lab, drift)
    yield
    lab.tell(f"scontrol update nodename={NODES} state=undrain")


def test_forty_drifts_are_named_and_nothing_else(lab: Lab, drifted: None, tmp_path: Path) -> None:
    code, report = check(tmp_path)
    assert code == DRIFT
    assert differences(report) == ([], [])


def test_a_run_repairs_them_and_the_next_check_finds_none(lab: Lab, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("DRAWBRIDGE_RECORD", raising=False)
    repaired = lab.playbook("site")
    assert repaired.code == 0, repaired.output
    assert check(tmp_path)[0] == NONE

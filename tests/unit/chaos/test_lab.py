# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chaos import __main__ as chaos
from tests.chaos.lab import Run, end
from tests.chaos.plan import ALL_SEEDS

FAMILY = """
import os, subprocess, sys, time
child = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", child])
time.sleep(60)
"""
RECAP = """
PLAY [Give]

TASK [drawbridge.drawbridge.gpfs_client : Mount them] ***
changed: [gpu01]

TASK [drawbridge.drawbridge.slurm_node : Install] ***
ok: [gpu01]

PLAY RECAP ****
gpu01                      : ok=2    changed={}    unreachable=0    failed=0    skipped=0
ctl                        : ok=1    changed=0    unreachable=0    failed=0    skipped=0
"""


def test_workers_with_sessions_of_their_own_die_as_well() -> None:
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        end(process.pid)
        assert process.wait(10) == -9
        assert process.stdout.read() == ""  # its end comes when the last who could write is gone


def test_a_run_that_is_gone_is_no_trouble() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    end(process.pid)


def test_changes_are_told_by_task_and_a_missing_recap_is_one() -> None:
    assert Run(0, RECAP.format(1)).changes() == ["gpu01: drawbridge.drawbridge.gpfs_client : Mount them"]
    assert Run(0, RECAP.format(0)).changes() == []
    assert Run(-9, "TASK [x]").changes() == ["there is no recap"]


def test_the_next_call_goes_on_and_begins_anew_after_the_last(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(chaos, "PASSED", tmp_path / "passed.json")
    assert chaos.remaining() == list(ALL_SEEDS)
    chaos.remember(2)
    chaos.remember(1)
    assert chaos.remaining() == list(ALL_SEEDS)[2:]
    chaos.PASSED.write_text(json.dumps(list(ALL_SEEDS)))
    assert chaos.remaining() == list(ALL_SEEDS)
    assert not chaos.PASSED.exists()

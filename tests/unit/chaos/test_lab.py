# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.chaos import __main__ as chaos
from tests.chaos import lab
from tests.chaos.lab import Broken, Lab, Run
from tests.chaos.plan import ALL_SEEDS, DRIFTED, Kill, Plan, Verb
from tests.processes import end

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


PLAYBOOK = """#!/bin/sh
case "$*" in *--list-tasks*)
  echo '  play #1 (nodes): Give'
  for name in one two three four; do printf '      drawbridge.drawbridge.gate : %s\\tTAGS: []\\n' $name; done
  exit
esac
for name in {played}; do echo "TASK [drawbridge.drawbridge.gate : $name] ***"; done
{last}
"""
"""Stands in for ansible-playbook: it lists four tasks, plays some of them, and comes to its end."""


def test_workers_with_sessions_of_their_own_die_as_well() -> None:
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        end(process.pid)
        assert process.wait(120) == -9
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


SYSTEMCTL = Verb("gpu01", "systemctl", "daemon-reload")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: Any) -> Lab:
    """A lab whose every host is this machine, with shims in a folder of their own."""
    monkeypatch.setattr(lab, "ssh", lambda paths, host, *command: list(command))
    monkeypatch.setattr(lab, "SHIM_PATH", str(tmp_path / "{}"))
    monkeypatch.setattr(lab.inventory, "write", lambda folder: folder)
    return Lab(tmp_path / "chaos")


@pytest.mark.parametrize(("named", "number"), [(None, 58), ("3", 3)])
def test_a_lab_that_somebody_made_is_taken_only_by_its_number(
    here: Lab, tmp_path: Path, monkeypatch: Any, named: str | None, number: int
) -> None:
    """In paths, verbs and playbooks alike: its hosts are drifted, and its end is down."""
    monkeypatch.setenv("LAB_ID", named or "")
    if named is None:
        monkeypatch.delenv("LAB_ID")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho lab $LAB_ID >&2\n")
    program.chmod(0o755)
    monkeypatch.setattr(lab, "PLAYBOOK", program)
    monkeypatch.setattr(lab, "LAB", (str(program),))
    there = Lab(tmp_path / "chaos")
    assert there.paths.lab_id == number
    assert there.command("down") == there.run(("site",), "1.log").output == f"lab {number}\n"


@pytest.mark.parametrize(
    ("played", "last", "after_ms", "ended"),
    [
        ("one two", "sleep 600", 200, (-9, True)),
        ("one two three four", "exit 0", 600_000, (0, False)),
        ("one", "exit 2", 200, (2, False)),
        ("one", "kill -9 $$", 200, (-9, False)),
    ],
    ids=["killed", "over", "failed before", "somebody else's kill"],
)
def test_a_run_is_killed_in_its_place_or_not_at_all(
    here: Lab, tmp_path: Path, monkeypatch: Any, played: str, last: str, after_ms: int, ended: object
) -> None:
    program = tmp_path / "ansible-playbook"
    program.write_text(PLAYBOOK.format(played=played, last=last))
    program.chmod(0o755)
    monkeypatch.setattr(lab, "PLAYBOOK", program)
    run = here.run(("site",), "1.log", Kill("gate", 0.3, after_ms))
    assert (run.code, run.killed) == ended


class Unkillable:
    """A lab whose first run is over before it can be killed, and whose others are all right."""

    converged = True

    def run(self, playbooks: Sequence[str], log: str, kill: Kill | None = None) -> Run:
        return Run(0, RECAP.format(0))


def test_a_run_that_was_not_killed_proves_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr(chaos, "faults", lambda lab: [])
    plan = Plan(7, DRIFTED, (), kill=Kill("gate", 0.3, 200))
    assert [found.partition(":")[0] for found in chaos.trial(cast("Lab", Unkillable()), plan)] == [
        "the first run was over before it could be killed"
    ]
    assert chaos.trial(cast("Lab", Unkillable()), Plan(7, DRIFTED, ())) == []


class PuttingOff:
    """A lab whose first run dies; the next one puts something off and fails of it, and the others are all right."""

    converged = True

    def __init__(self) -> None:
        self.runs = 0

    def sh(self, host: str, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([host, script], 0)

    def run(self, playbooks: Sequence[str], log: str, kill: Kill | None = None) -> Run:
        self.runs += 1
        if self.runs == 2:
            return Run(2, f"[WARNING]: gpu01: {chaos.PUT_OFF}: rail3: make priority 3 lossless")
        return Run(0, RECAP.format(0), killed=self.runs == 1)


@pytest.mark.parametrize(("drifts", "runs", "fails"), [(("nic", "munge"), 4, False), (("nic", "slurmd"), 2, True)])
def test_one_more_run_is_for_ports_that_slurm_keeps_waiting(
    monkeypatch: Any, drifts: tuple[str, ...], runs: int, fails: bool
) -> None:
    monkeypatch.setattr(chaos, "faults", lambda lab: [])
    there = PuttingOff()
    found = chaos.trial(cast("Lab", there), Plan(7, DRIFTED, drifts, kill=Kill("fabric_nic", 0.3, 200)))
    assert (bool(found), there.runs) == (fails, runs)


def test_a_shim_that_is_still_there_killed_nobody(here: Lab, tmp_path: Path) -> None:
    here.arm(SYSTEMCTL)
    assert (tmp_path / "systemctl").stat().st_mode & 0o777 == 0o755
    assert not here.disarm(SYSTEMCTL)
    assert here.disarm(SYSTEMCTL), "it is gone, as after a death"


def test_a_host_that_does_not_answer_is_no_death_and_cannot_be_armed(here: Lab, monkeypatch: Any) -> None:
    monkeypatch.setattr(lab, "ssh", lambda *words: ["sh", "-c", "echo no route to host >&2; exit 255"])
    with pytest.raises(Broken, match="systemctl on gpu01 can't be made to die: no route to host"):
        here.arm(SYSTEMCTL)
    with pytest.raises(Broken, match="nobody knows whether systemctl died on gpu01: no route to host"):
        here.disarm(SYSTEMCTL)

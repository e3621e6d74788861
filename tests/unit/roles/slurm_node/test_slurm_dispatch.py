# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.unit.processes import LIMITS_S, gone
from tests.waiting import until

DISPATCH = Path(__file__).parents[4] / "roles/slurm_node/files/slurm-dispatch.py"


class Scripts:
    """A directory of parts, and the dispatcher run over it with Slurm's poor environment."""

    def __init__(self, root: Path) -> None:
        self.root, self.ran, self.path = root, root / "ran", ""
        self.environment = {"SLURM_JOB_ID": "7", "RAN": str(self.ran)}

    def part(self, kind: str, name: str, body: str = "", mode: int = 0o755) -> Path:
        path = self.root / f"{kind}.d" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho {name} >> "$RAN"\n{body}\n')
        path.chmod(mode)
        return path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        places = ("--parts", str(self.root), "--lock", str(self.root / "run/lock"))
        argv = [sys.executable, str(DISPATCH), *places, *(("--path", self.path) if self.path else ()), *arguments]
        return subprocess.Popen(argv, env=self.environment, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            _, told = process.communicate(timeout=120)
        return process.returncode, told

    def order(self) -> list[str]:
        return self.ran.read_text().split() if self.ran.exists() else []

    def wait_for(self, name: str) -> None:
        until(lambda: name in self.order(), 120, f"{name} ran")

    def child(self) -> str:
        path = self.root / "ran.child"
        return path.read_text().strip() if path.exists() else ""


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


@pytest.mark.parametrize("kind", ["prolog", "prolog_slurmctld"])
def test_a_prolog_runs_upwards_and_ends_with_the_first_failure(scripts: Scripts, kind: str) -> None:
    for name, body in (("30-c", ""), ("10-a", ""), ("20-b", "exit 4")):
        scripts.part(kind, name, body)
    assert scripts.run(kind)[0] == 4
    assert scripts.order() == ["10-a", "20-b"]


@pytest.mark.parametrize("kind", ["epilog", "epilog_slurmctld"])
def test_an_epilog_runs_downwards_and_all_of_it(scripts: Scripts, kind: str) -> None:
    for name, body in (("10-a", "exit 2"), ("30-c", "exit 5"), ("20-b", "")):
        scripts.part(kind, name, body)
    assert scripts.run(kind)[0] == 5
    assert scripts.order() == ["30-c", "20-b", "10-a"]


def test_other_names_are_no_parts_and_a_missing_directory_is_fine(scripts: Scripts) -> None:
    for name in ("10-a.dpkg-old", "10-a~", ".10-a.swp", "notes"):
        scripts.part("prolog", name, "exit 1")
    assert [scripts.run(kind)[0] for kind in ("prolog", "epilog")] == [0, 0]
    assert scripts.order() == []


def test_parts_have_a_path_and_a_home(scripts: Scripts) -> None:
    scripts.part("prolog", "10-a", 'case "$PATH" in *:/usr/bin:*) ;; *) exit 1 ;; esac; test "$HOME" = / || exit 2')
    assert scripts.run("prolog")[0] == 0


def test_a_part_without_end_is_ended_with_its_children(scripts: Scripts) -> None:
    scripts.part("epilog", "20-b", 'sleep 600 & echo $! > "$RAN.child"; wait')
    scripts.part("epilog", "10-a")
    for limit_s in LIMITS_S:
        scripts.ran.unlink(missing_ok=True)
        code, told = scripts.run("--timeout", str(limit_s), "epilog")
        assert code == 124
        assert f"20-b: no end after {limit_s:g} s" in told
        if scripts.child() and "10-a: no end" not in told:
            break
    assert scripts.order() == ["20-b", "10-a"]
    gone(int(scripts.child()))


def test_slurms_own_limit_takes_the_running_part_along(scripts: Scripts) -> None:
    scripts.part("prolog", "10-a", 'sleep 600 & echo $! > "$RAN.child"; echo ready >> "$RAN"; wait')
    with scripts.start("prolog") as process:
        scripts.wait_for("ready")
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 143
    gone(int(scripts.child()))


def test_a_kill_of_the_process_group_leaves_nothing(scripts: Scripts) -> None:
    scripts.part("prolog", "10-a", "sleep 600")
    with scripts.start("prolog") as process:
        scripts.wait_for("10-a")
        assert os.getpgid(process.pid) == process.pid
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(120)
    assert scripts.order() == ["10-a"]


def is_held(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def test_the_lock_is_held_while_a_script_runs(scripts: Scripts) -> None:
    scripts.part("prolog", "10-a", "sleep 600")
    with scripts.start("prolog") as process:
        scripts.wait_for("10-a")
        with (scripts.root / "run" / "lock").open() as lock:
            held = is_held(lock)
            process.terminate()
            process.wait(120)
            assert (held, is_held(lock)) == (True, False)


def test_only_root_can_open_the_lock_so_only_root_can_hold_it(scripts: Scripts) -> None:
    """Whoever may open a file may lock it; one that an older release made is closed, too."""
    lock = scripts.root / "run" / "lock"
    lock.parent.mkdir()
    lock.touch(0o644)
    scripts.part("prolog", "10-a")
    assert scripts.run("prolog") == (0, "")
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_a_lock_that_is_never_given_back_holds_no_job(scripts: Scripts) -> None:
    lock = scripts.root / "run" / "lock"
    lock.parent.mkdir()
    scripts.part("prolog", "10-a")
    with lock.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert scripts.run("--wait", "0.3", "prolog") == (0, "")
    assert scripts.order() == ["10-a"]


class Node:
    """A node whose Slurm commands note their arguments."""

    def __init__(self, scripts: Scripts) -> None:
        self.bin, self.asked = scripts.root / "bin", scripts.root / "asked"
        self.bin.mkdir()
        path = f"{self.bin}:/usr/bin:/bin"
        scripts.path = path
        scripts.environment |= {"SLURMD_NODENAME": "gpu07", "PATH": "/nowhere", "ASKED": str(self.asked)}

    def answers(self, state: str, code: int | str = 0) -> None:
        for name in ("sinfo", "scontrol"):
            tool = self.bin / name
            tool.write_text(f'#!/bin/sh\necho {name} "$@" >> "$ASKED"\necho {state}\nexit {code}\n')
            tool.chmod(0o755)

    def drains(self) -> list[str]:
        lines = self.asked.read_text().splitlines() if self.asked.exists() else []
        return [line for line in lines if line.startswith("scontrol")]


@pytest.fixture
def node(scripts: Scripts) -> Node:
    return Node(scripts)


@pytest.mark.parametrize(
    ("part", "limit_s", "code", "says", "ended"),
    [
        (("exit 3", 0o755), "60", 3, "", "ended with code 3"),
        (("", 0o644), "60", 126, "20-mounts: Permission denied", "can't be run"),
        (("sleep 600", 0o755), "0.5", 124, "20-mounts: no end after 0.5 s", "did not end in time"),
    ],
)
def test_a_failure_drains_the_node_with_a_reason_to_act_on(
    scripts: Scripts, node: Node, part: tuple[str, int], limit_s: str, code: int, says: str, ended: str
) -> None:
    node.answers("allocated")
    scripts.part("prolog", "20-mounts", *part)
    found, told = scripts.run("--timeout", limit_s, "prolog")
    assert found == code and says in told
    assert node.drains() == [
        f"scontrol update nodename=gpu07 state=drain reason=drawbridge: prolog part 20-mounts {ended} in job 7; "
        "journalctl -t slurm-dispatch"
    ]


def test_of_several_failures_the_first_is_the_reason(scripts: Scripts, node: Node) -> None:
    node.answers("completing")
    scripts.part("epilog", "30-c", "exit 2")
    scripts.part("epilog", "20-b", "exit 5")
    assert scripts.run("epilog")[0] == 5
    (drain,) = node.drains()
    assert "epilog part 30-c ended with code 2" in drain


@pytest.mark.parametrize("state", ["draining", "drained*", "down", "DRAINED"])
def test_an_existing_reason_stays(scripts: Scripts, node: Node, state: str) -> None:
    node.answers(state)
    scripts.part("prolog", "10-a", "exit 1")
    assert scripts.run("prolog")[0] == 1
    assert node.drains() == []


def test_a_slurm_that_does_not_answer_changes_nothing_of_the_code(scripts: Scripts, node: Node) -> None:
    node.answers("", code=1)
    scripts.part("prolog", "10-a", "exit 4")
    assert scripts.run("prolog")[0] == 4
    assert node.drains() == []


def test_slurm_is_queried_again_when_it_did_not_answer(scripts: Scripts, node: Node) -> None:
    """Its clients give up after ten seconds, a busy machine may take longer."""
    node.answers("allocated", code="$(test $(wc -l < $ASKED) != 1; echo $?)")
    scripts.part("prolog", "10-a", "exit 4")
    assert scripts.run("prolog")[0] == 4
    assert len(node.drains()) == 1


def test_a_success_makes_no_slurm_calls(scripts: Scripts, node: Node) -> None:
    node.answers("allocated")
    scripts.part("prolog", "10-a")
    assert scripts.run("prolog")[0] == 0
    assert not node.asked.exists()


def test_the_controllers_scripts_drain_nothing(scripts: Scripts, node: Node) -> None:
    node.answers("allocated")
    del scripts.environment["SLURMD_NODENAME"]
    scripts.part("prolog_slurmctld", "10-a", "exit 1")
    assert scripts.run("prolog_slurmctld")[0] == 1
    assert not node.asked.exists()

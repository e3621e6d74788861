# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State, journal, faults and clock of an emulated device, also when many processes use it and some are killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.emulators.common import EFFECTS, READ_EFFECTS, Device
from tests.waiting import until

REPOSITORY = Path(__file__).parents[3]


def start(code, *arguments):
    """Start a Python process that has `Device` and sys.argv."""
    prelude = "import sys, pathlib\nfrom lab.emulators.common import *\n"
    return subprocess.Popen([sys.executable, "-c", prelude + code, *map(str, arguments)], cwd=REPOSITORY)


def test_a_block_that_raises_changes_nothing(tmp_path):
    device = Device(tmp_path)
    with pytest.raises(RuntimeError), device.state({"a": 1}) as state:
        state["a"] = 2
        raise RuntimeError
    with device.state({"a": 1}) as state:
        assert state["a"] == 1


def test_eight_processes_lose_no_update_and_double_no_fault(tmp_path):
    Device(tmp_path).add_fault("t", "refuse", times=200)
    use = (
        "device = Device(pathlib.Path(sys.argv[1]))\n"
        "for _ in range(50):\n"
        " with device.state({'n': 0}) as s: s['n'] += 1\n"
        " device.journal(effect=device.fault('t', ''))"
    )
    processes = [start(use, tmp_path) for _ in range(8)]
    assert [process.wait(600) for process in processes] == [0] * 8
    with Device(tmp_path).state() as state:
        assert state["n"] == 400
    assert [call["effect"] for call in Device(tmp_path).calls()].count("refuse") == 200


def test_a_kill_at_any_moment_leaves_whole_files_and_a_free_lock(tmp_path):
    write = (
        "device = Device(pathlib.Path(sys.argv[1]))\n"
        "while True:\n"
        " with device.state({'n': 0, 'half': 0}) as s:\n"
        "  s['n'] += 1; s['pad'] = 'x' * 200000; s['half'] = s['n']\n"
    )
    for round_number in range(6):
        process = start(write, tmp_path)
        until((tmp_path / "state.json").exists, 120, "the first state is written")
        time.sleep(0.003 * round_number)  # not a wait: moves the kill to another point of the write
        process.send_signal(signal.SIGKILL)
        process.wait(120)
        with Device(tmp_path).state() as state:
            assert state["n"] == state["half"] > 0


def test_a_fault_strikes_as_often_as_armed_or_until_it_is_cleared(tmp_path):
    device = Device(tmp_path)
    device.add_fault("mlnx_qos", "lie", match="--pfc", times=2)
    lines = ["-i rail0", "-i rail0 --pfc 1", "-i rail0 --trust dscp", "--pfc", "--pfc"]
    assert [device.fault("mlnx_qos", line) for line in lines] == [None, "lie", None, "lie", None]
    assert device.fault("mmmount", "--pfc") is None
    device.add_fault("t", "die", times=None)
    assert device.fault("t", "", among=READ_EFFECTS) is None, "a read can't act it out"
    assert [device.fault("t", "") for _ in range(3)] == ["die"] * 3
    device.clear_faults()
    assert device.fault("t", "") is None


def test_an_unknown_effect_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match=", ".join(EFFECTS)):
        Device(tmp_path).add_fault("t", "explode")


def test_the_journal_has_the_moved_clock(tmp_path):
    """That devices have it is tested where people move it, in tests/lab/test_switchboard.py."""
    clock = tmp_path / "clock"
    clock.write_text("600\n")
    device = Device(tmp_path / "d", clock)
    before = time.time()
    device.journal(rc=0)
    assert before + 600 <= device.calls()[0]["time"] <= time.time() + 600


def test_any_user_may_use_a_device_that_root_made(tmp_path, opt_lab, any_user):
    device = Device(tmp_path / "d")
    with device.state() as state:
        state["a"] = 1
    device.journal(who="root")
    program = f"""
from pathlib import Path
from lab.common import Device
device = Device(Path({str(tmp_path / "d")!r}))
with device.state() as state:
    state["a"] += 1
device.journal(who="nobody")
"""
    # the machine's own interpreter, as in the guests: other users may have no access to a virtualenv
    command = ["/usr/bin/python3", "-c", program]
    subprocess.run(command, cwd=opt_lab.parent, check=True, timeout=120, **any_user)
    assert [call["who"] for call in device.calls()] == ["root", "nobody"]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.times import HISTORY, RUNS, LabTime, Spent, machine_s, name_of, share, slowest, wait, write

BUSY = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_processor_time_of_a_program_and_its_children_counts() -> None:
    nested = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {BUSY!r}]).returncode + 3)"
    process = subprocess.Popen([sys.executable, "-c", nested])
    assert wait(process, time.monotonic() + 300) >= 0.3
    assert process.returncode == 3


def test_a_program_that_goes_on_is_given_up() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with pytest.raises(subprocess.TimeoutExpired):
        wait(process, time.monotonic())
    process.kill()
    assert process.wait() == -9


def test_a_lab_that_begins_anew_adds_to_what_it_used_before(tmp_path: Path) -> None:
    labs, file = LabTime([60, 61], tmp_path), tmp_path / "drawbridge-lab/60/hosts/cpu.stat"
    labs.look()
    file.parent.mkdir(parents=True)
    for used in (2_000_000, 5_000_000, 1_000_000, 1_500_000):
        file.write_text(f"usage_usec {used}\nuser_usec 7\n")
        labs.look()
    file.unlink()
    labs.look()
    assert labs.total_s == 6.5


def test_the_machine_counts_what_any_program_uses() -> None:
    before = machine_s()
    assert subprocess.run([sys.executable, "-c", BUSY], check=False).returncode == 0
    assert machine_s() - before >= 0.2
    assert "90% of it" in share({"a": Spent(cpu_s=60, lab_s=20), "b": Spent(cpu_s=10)}, 100.0)


def test_times_are_kept_by_part_and_ten_runs_in_the_history(tmp_path: Path) -> None:
    file = tmp_path / "times.json"
    write(file, {"lint": Spent(10.4, 5.6, {"ruff check": 0.7})}, "first")
    for number in range(RUNS):
        write(file, {"unit": Spent(float(number))}, str(number))
    found = json.loads(file.read_text())
    assert (found["lint"]["wall_s"], found["lint"]["cpu_s"], found["lint"]["commands"]) == (10, 6, {"ruff check": 1})
    assert found["unit"]["wall_s"] == RUNS - 1
    assert [run["commit"] for run in found[HISTORY]] == [str(number) for number in range(RUNS)]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("/x/bin/molecule", "test", "--destroy", "never", "-s", "kube_node"), "kube_node"),
        (("/x/bin/python", "-m", "pytest", "-q", "tests/unit"), "tests/unit"),
        (("/x/bin/python", "-m", "tests.chaos", "--next"), "tests.chaos"),
        (("/x/bin/ruff", "format", "--check", "."), "ruff format"),
        (("/x/bin/pyright",), "pyright"),
    ],
)
def test_a_command_has_a_name(command: tuple[str, ...], name: str) -> None:
    assert name_of(command) == name


def test_the_slowest_commands_come_first() -> None:
    lines = slowest({"a": Spent(commands={"x": 5.0, "y": 70.0}), "b": Spent(commands={"z": 6.0})})
    assert [line.split() for line in lines] == [["70", "a:", "y"], ["6", "b:", "z"], ["5", "a:", "x"]]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import pytest

from bench import floor
from bench.floor import Taken

TAKEN = {"converge": Taken(15.0, 8.0), "modules": Taken(10.0, 4.0), "start": Taken(1.0, 0.5), "ssh": Taken(0.5, 0.2)}


def test_ratios_are_against_the_same_number_of_modules() -> None:
    assert floor.ratios(TAKEN)["wall"] == {
        "converge / modules": 1.5,
        "converge / modules, above start": pytest.approx(14 / 9),
        "converge / ssh": 30.0,
    }
    assert floor.ratios(TAKEN)["cpu"]["converge / modules"] == 2.0


def test_the_page_names_the_goal_beside_its_ratio() -> None:
    page = floor.page(TAKEN, nodes=4, tasks=10)
    assert "| converge / modules | 1.50 | 2.00 | at most 1.5 |\n" in page
    assert "| 10 no-op modules a node | 10.00 | 4.00 |\n" in page


def test_a_slow_round_moves_no_median() -> None:
    rounds = [TAKEN, {**TAKEN, "ssh": Taken(90.0, 90.0)}, TAKEN]
    assert floor.medians(rounds) == TAKEN


def test_only_what_runs_on_a_node_is_a_module() -> None:
    hosts = {
        "gpu01": {"results": 15, "validated": 5, "skipped": 0},
        "gpu02": {"results": 15, "validated": 5, "skipped": 1},
    }
    assert floor.modules({"hosts": hosts}, ["gpu01", "gpu02"]) == 10


def test_the_floor_is_a_play_of_so_many_modules() -> None:
    (play,) = floor.play(3)
    assert play["tasks"] == [{"name": "Do nothing", "ansible.builtin.ping": {}}] * 3


def test_time_is_that_of_the_processes_that_ran() -> None:
    burn = "import time; e = time.process_time() + 0.2\nwhile time.process_time() < e: pass"
    taken = floor.timed(lambda: subprocess.run([sys.executable, "-c", burn], check=True))
    assert 0.2 <= taken.cpu < 5.0
    assert taken.wall >= 0.2

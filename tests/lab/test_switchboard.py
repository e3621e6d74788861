# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import json
import time

import pytest

from lab import switchboard
from lab.errors import LabError


@pytest.fixture(autouse=True)
def shared(paths):
    paths.shared.mkdir(parents=True)


def faults(file):
    return json.loads(file.read_text())


@pytest.mark.parametrize(
    ("tool", "family"),
    [("mlnx_qos", "mlnx_qos"), ("mmmount", "gpfs"), ("nvidia-smi", "nvidia_smi")],
)
def test_a_hosts_fault_lies_with_the_tools_device(room_site, paths, tool, family):
    switchboard.arm(switchboard.device(room_site, paths, "gpu01", tool), tool, "lie", "-a", 2)
    armed = faults(paths.host("gpu01").emulators / family / "faults.json")
    assert armed == [{"tool": tool, "match": "-a", "effect": "lie", "times": 2}]


def test_a_switch_is_one_device(room_site, paths):
    switchboard.arm(switchboard.device(room_site, paths, "leaf1", "eos"), "eos", "die", "commit", None)
    assert faults(paths.switch("leaf1") / "faults.json")[0]["effect"] == "die"


@pytest.mark.parametrize(("name", "tool"), [("gpu99", "mlnx_qos"), ("gpu01", "toaster")])
def test_only_emulated_tools_have_faults(room_site, paths, name, tool):
    with pytest.raises(LabError, match=r"gpu99|toaster"):
        switchboard.device(room_site, paths, name, tool)


def test_a_strange_effect_is_refused(room_site, paths):
    with pytest.raises(LabError, match="use one of refuse, lie, hang, die, drift"):
        switchboard.arm(switchboard.device(room_site, paths, "gpu01", "mlnx_qos"), "mlnx_qos", "sulk", "", 1)


def test_clearing_disarms_hosts_and_switches(room_site, paths):
    for name, tool in (("gpu01", "mlnx_qos"), ("leaf1", "eos")):
        switchboard.arm(switchboard.device(room_site, paths, name, tool), tool, "lie", "", 1)
    assert switchboard.clear(paths) == 2
    assert switchboard.clear(paths) == 0
    assert faults(paths.switch("leaf1") / "faults.json") == []


def test_the_clock_moves_by_steps_and_can_be_set_right(room_site, paths):
    switchboard.move_clock(paths, "+600")
    assert switchboard.move_clock(paths, "+30") == 630
    device = switchboard.device(room_site, paths, "gpu01", "mlnx_qos")
    before = time.time()
    assert before + 630 <= device.now() <= time.time() + 630
    assert switchboard.move_clock(paths, "reset") == 0
    before = time.time()
    assert before <= device.now() <= time.time()


def test_a_strange_step_is_refused(paths):
    with pytest.raises(LabError, match="use \\+SECONDS"):
        switchboard.move_clock(paths, "tomorrow")

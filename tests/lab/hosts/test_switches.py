# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.hosts import switches


def test_a_switch_serves_its_own_address_with_its_own_key(room_site, paths):
    line = " ".join(switches.prepare(room_site, room_site.switches["spine1"], paths))
    assert " -m lab.emulators.eos --name spine1 --listen 10.77.7.43:22 " in line
    assert f"--host-key {paths.host_key('spine1')} --authorized-key {paths.user_key}.pub" in line
    assert f"--clock {paths.clock}" in line
    assert line.endswith("--platform jericho --port-count 8")


def test_every_cable_has_the_same_two_ends_on_both_switches(room_site):
    ends = {name: switches.neighbors(room_site, switch) for name, switch in room_site.switches.items()}
    assert ends["leaf1"]["Ethernet16"] == ["gpu02", "rail7"]
    assert ends["leaf2"]["Ethernet17"] == ["spine1", "Ethernet3"]
    for name, ports in ends.items():
        for port, (device, there) in ports.items():
            if device in ends:
                assert ends[device][there] == [name, port]


def test_two_cables_in_one_port_are_refused(room_site):
    hosts = {**room_site.hosts, "gpu02": replace(room_site.hosts["gpu02"], port=8)}
    with pytest.raises(LabError, match="leaf1 port 8 is taken twice, by gpu01 rail7 and gpu02 rail0"):
        switches.neighbors(replace(room_site, hosts=hosts), room_site.switches["leaf1"])


def test_what_is_plugged_in_is_written_for_the_switch(room_site, paths):
    line = switches.prepare(room_site, room_site.switches["leaf1"], paths)
    file = line[line.index("--neighbors") + 1]
    assert json.loads(Path(file).read_text())["Ethernet1"] == ["gpu01", "rail0"]

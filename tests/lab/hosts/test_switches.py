# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from lab.hosts import switches


def test_a_switch_serves_its_own_address_with_its_own_key(room_site, paths):
    line = " ".join(switches.command(room_site, room_site.switches["leaf2"], paths))
    assert " -m lab.emulators.eos --name leaf2 --listen 10.77.7.42:22 " in line
    assert f"--host-key {paths.host_key('leaf2')} --authorized-key {paths.user_key}.pub" in line
    assert f"--clock {paths.clock}" in line

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from lab.hosts import network


def test_a_gpu_host_has_eth0_and_eight_rails_on_two_bridges(room_site, paths):
    cables = network.cables(room_site.hosts["gpu01"], paths)
    assert cables["eth0"] == ("db7gpu01", "dblab7")
    assert [cables[f"rail{i}"] for i in range(8)] == [(f"db7gpu01r{i}", "dbfab7") for i in range(8)]
    assert set(network.cables(room_site.hosts["ctl"], paths)) == {"eth0"}


def test_a_switch_has_the_cable_by_which_it_is_managed(room_site, paths):
    spine = room_site.switches["spine1"]
    assert network.cables(spine, paths) == {"eth0": ("db7spine1", "dblab7")}
    peer = f"peer name eth0 address {room_site.mac('spine1', 'eth0')} netns spine1"
    assert network.cable_lines(room_site, spine, paths)[0] == f"link add db7spine1 group 7707 type veth {peer}"
    assert network.inside_lines(room_site, spine, paths)[0] == "address add 10.77.7.43/24 dev eth0"


def test_link_names_fit_the_kernel_and_are_unique(room_site, paths):
    nodes = [*room_site.hosts.values(), *room_site.switches.values()]
    names = [end for node in nodes for end, _ in network.cables(node, paths).values()]
    assert max(map(len, names)) <= 15
    assert len(names) == len(set(names))


def test_every_link_carries_the_labs_group(room_site, paths):
    lines = network.bridge_lines(room_site, paths) + network.cable_lines(room_site, room_site.hosts["gpu01"], paths)
    added = [line for line in lines if line.startswith("link add")]
    assert added
    assert all(" group 7707 " in line for line in added)


def test_both_ends_of_a_cable_are_what_the_site_says(room_site, paths):
    lines = network.cable_lines(room_site, room_site.hosts["gpu01"], paths)
    mac = room_site.mac("gpu01", "rail3")
    assert f"link add db7gpu01r3 group 7707 type veth peer name rail3 address {mac} netns gpu01" in lines
    assert "link set db7gpu01r3 master dbfab7 up" in lines


def test_the_management_bridge_goes_up_last(room_site, paths):
    """ensure_bridges takes a bridge that is up for a finished one."""
    lines = network.bridge_lines(room_site, paths)
    assert lines[-1] == "link set dblab7 up"


def test_the_machine_has_its_own_address_only(room_site, paths):
    """With a switch's it would need the switch's port 22, which its own sshd has on all its addresses."""
    lines = network.bridge_lines(room_site, paths)
    assert [line for line in lines if line.startswith("address add")] == ["address add 10.77.7.1/24 dev dblab7"]


def test_the_inside_has_its_address_and_route(room_site, paths):
    lines = network.inside_lines(room_site, room_site.hosts["gpu02"], paths)
    assert lines[0] == "address add 10.77.7.22/24 dev eth0"
    assert lines[-1] == "route add default via 10.77.7.1"
    assert "link set rail7 up" in lines

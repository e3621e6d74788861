# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against emulated ip, systemd-networkd and NetworkManager, with every fault that they can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import io as links_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import settings_io

from lab.emulators.common import Device
from tests.unit.library.emulated import Host, writes
from tests.unit.library.ways import ALONE, VISIT, meet_faults

NAMES = ["rail0", "rail1", "stor0"]
ARGS = {
    "groups": [{"interfaces": NAMES[:2], "mtu_bytes": 9000}, {"interfaces": NAMES[2:], "mtu_bytes": 4200}],
    "slurm_node": "gpu01",
    "timeout_s": 120,
}
MTUS = {"rail0": 9000, "rail1": 9000, "stor0": 4200}
STEPS = [f"{name}: set MTU {mtu}, not 1500" for name, mtu in MTUS.items()]


@pytest.fixture(params=[ALONE, VISIT])
def host(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = Host(tmp_path, "gpu01", monkeypatch, capfd)
    host.way = request.param
    host.install("ip", "networkctl", "nmcli")
    run_managers(host)
    monkeypatch.setattr(links_io, "ROOT", str(tmp_path / "root"))
    port = {"mtu": 1500, "max_mtu": 9978, "operstate": "UP", "network_file": "", "profile": ""}
    with host.device("net").state({"links": {}, "profiles": {"af1e": 0, "own": 1500}}) as state:
        state["links"] = {name: {**port, "index": at} for at, name in enumerate(["eth0", *NAMES])}
    return host


@pytest.fixture
def net(host: Host) -> Device:
    return host.device("net")


def run_managers(host: Host, networkd: str = "inactive", manager: str = "inactive") -> None:
    host.program("systemctl", f"echo {networkd}\necho {manager}\nexit 3")


def mtus(net: Device) -> dict[str, int]:
    with net.state() as state:
        return {name: state["links"][name]["mtu"] for name in NAMES}


def own_files(host: Host) -> dict[str, str]:
    root = host.root.parent / "root"
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def test_check_predicts_the_run_and_the_second_run_only_reads(host: Host, net: Device) -> None:
    done = host.converge("nic_link", "net", **ARGS)
    assert (done["steps"], mtus(net), own_files(host)) == (STEPS, MTUS, {})
    with net.state() as state:
        assert [state["links"][name].get("sets", 0) for name in ("eth0", *NAMES)] == [0, 1, 1, 1]


def test_devices_of_a_busy_node_keep_their_mtu(host: Host, net: Device) -> None:
    host.program("squeue", "echo 7")
    done = host.run("nic_link", **ARGS)
    assert (done["steps"], mtus(net)) == ([], dict.fromkeys(NAMES, 1500))
    assert [text.partition(": Slurm job 7 is on this node")[0] for text in done["pending"]] == STEPS


def test_networkd_gets_a_drop_in_beside_its_file(host: Host, net: Device) -> None:
    run_managers(host, networkd="active")
    with net.state() as state:
        state["links"]["rail0"]["network_file"] = "/run/systemd/network/10-netplan-rail0.network"
    assert len(host.run("nic_link", **ARGS)["steps"]) == 4
    [(path, text)] = own_files(host).items()
    assert path == "etc/systemd/network/10-netplan-rail0.network.d/50-drawbridge-mtu.conf"
    assert text.endswith("[Link]\nMTUBytes=9000\n")
    assert host.run("nic_link", **ARGS)["steps"] == []
    for other in ("eth0", "stor0"):
        with net.state() as state:
            state["links"][other]["network_file"] = "/run/systemd/network/10-netplan-rail0.network"
        assert f"configures rail0 and {other}, which needs other settings" in host.run("nic_link", **ARGS)["msg"]
        with net.state() as state:
            state["links"][other]["network_file"] = ""


def test_network_manager_reads_our_file_and_its_profiles_stay(host: Host, net: Device) -> None:
    run_managers(host, manager="active")
    with net.state() as state:
        state["links"]["rail1"]["profile"] = "af1e"
    host.run("nic_link", **ARGS)
    [(path, text)] = own_files(host).items()
    assert path == "etc/NetworkManager/conf.d/50-drawbridge-mtu.conf"
    assert text.endswith("match-device=interface-name:rail1\nethernet.mtu=9000\n")
    assert writes(net)[-1] == ["nmcli", "general", "reload", "conf"]
    assert host.run("nic_link", **ARGS)["steps"] == []
    with net.state() as state:
        state["links"]["rail1"]["profile"] = "own"
    refused = host.run("nic_link", **ARGS)
    assert refused["msg"].startswith(
        "the NetworkManager profile own gives rail1 the MTU 1500, not 9000; remove its own:"
    )
    assert refused["msg"].endswith(" nmcli connection modify own 802-3-ethernet.mtu 0") and not refused["changed"]
    with net.state() as state:
        state["profiles"]["own"] = 9000
    host.run("nic_link", **ARGS)
    assert own_files(host) == {}, "a profile with this MTU needs no file"


def test_a_driver_with_smaller_frames(host: Host, net: Device) -> None:
    with net.state() as state:
        state["links"]["stor0"]["max_mtu"] = 1500
    refused = host.run("nic_link", **ARGS)
    assert "mtu_bytes is 4200, but the driver of stor0 takes at most 1500" in refused["msg"]
    assert writes(net) == []


PORTS = ["rail0", "rail1"]
COMPLETE = {
    **ARGS,
    "groups": [{"interfaces": PORTS, "mtu_bytes": 1500, "own_addresses": True, "ports": PORTS, "ring_size": 8192}],
}
ARP = [("arp_ignore", "1", "0"), ("arp_announce", "2", "0"), ("rp_filter", "2", "1")]
PAUSE = [("global pause rx", "off", "on"), ("global pause tx", "off", "on")]
RINGS = [("ring rx", "8192", "1024"), ("ring tx", "8192", "1024")]
SETTINGS = [
    *(f"{name}: set {key} to {new}, not {old}" for name in PORTS for key, new, old in ARP),
    *(f"{name}: set {key} to {new}, not {old}" for name in PORTS for key, new, old in (*PAUSE, *RINGS)),
]


@pytest.fixture
def ports(host: Host, tmp_path: Path) -> Host:
    """The host with ethtool, and with the sysctl defaults of a distribution that checks reverse paths."""
    host.install("ethtool")
    for name in PORTS:
        (host.root / "sys/class/net" / name).mkdir(parents=True)
        folder = tmp_path / "root/proc/sys/net/ipv4/conf" / name
        folder.mkdir(parents=True)
        for key, _, old in ARP:
            (folder / key).write_text(f"{old}\n")
    return host


def test_arp_pause_and_rings_are_set_once(ports: Host, tmp_path: Path) -> None:
    assert ports.converge("nic_link", "ethtool", **COMPLETE)["steps"] == SETTINGS
    assert (tmp_path / "root/proc/sys/net/ipv4/conf/rail1/rp_filter").read_text() == "2\n"
    assert len(writes(ports.device("ethtool"))) == 8
    (ports.root / "proc/sys/kernel/random/boot_id").write_text("another")
    assert ports.run("nic_link", **COMPLETE)["steps"] == SETTINGS[6:], "a port forgets its pause and rings at a boot"


@pytest.mark.parametrize("release", ["5.16", "6.1", "6.2"])
def test_pause_and_rings_are_the_ports_own_with_every_release_of_ethtool(ports: Host, release: str) -> None:
    """Before 6.2, --json prints each pause as on, and there are no rings."""
    with ports.device("ethtool").state({"ports": {}, "version": release}):
        pass
    assert ports.run("nic_link", **COMPLETE)["steps"] == SETTINGS
    done = ports.run("nic_link", **COMPLETE)
    assert (done["steps"], done.get("failed", False)) == ([], False)


def test_pause_and_rings_wait_for_jobs_and_arp_does_not(ports: Host) -> None:
    ports.program("squeue", "echo 7")
    done = ports.run("nic_link", **COMPLETE)
    assert done["steps"] == SETTINGS[:6]
    assert [text.partition(": Slurm job 7")[0] for text in done["pending"]] == SETTINGS[6:]


def test_a_driver_without_pause_has_none_to_switch_off(ports: Host) -> None:
    with ports.device("ethtool").state({"ports": {}, "no_pause": ["rail1"]}):
        pass
    done = ports.run("nic_link", **COMPLETE)
    assert done["steps"] == [step for step in SETTINGS if not step.startswith("rail1: set global pause")]
    assert ports.run("nic_link", **COMPLETE)["steps"] == []


TUNED = {
    **ARGS,
    "groups": [
        {
            **{"interfaces": PORTS, "mtu_bytes": 1500, "ports": PORTS, "interrupts_numa": [0, 1]},
            **{"read_request_bytes": 4096, "relaxed_ordering": "disabled"},
        }
    ],
}
NEAR = [("0-3", "4-7"), ("CPUs 0-7", "CPUs 0-7")]
TUNING = [
    step
    for at, name in enumerate(PORTS)
    for step in (
        f"{name}: set PCIe read request to 4096, not 512",
        f"{name}: set PCIe relaxed ordering to disabled, not enabled",
        f"{name}: set interrupts to NUMA node {at}, not CPUs 0-7",
    )
]


@pytest.fixture
def tuned(ports: Host, tmp_path: Path) -> Host:
    """The host with setpci and with interrupts, and with no global pause to switch off."""
    ports.install("setpci")
    with ports.device("ethtool").state({"ports": {}, "no_pause": PORTS}):
        pass
    root = tmp_path / "root"
    for node in range(2):
        (root / f"sys/devices/system/node/node{node}").mkdir(parents=True)
        (root / f"sys/devices/system/node/node{node}/cpulist").write_text(f"{NEAR[0][node]}\n")
    for at, name in enumerate(PORTS):
        (root / f"sys/devices/0000:{at}8:00.0/msi_irqs").mkdir(parents=True)
        (root / f"sys/devices/0000:{at}8:00.0/msi_irqs/{70 + at}").write_text("msix\n")
        (root / f"proc/irq/{70 + at}").mkdir(parents=True)
        (root / f"proc/irq/{70 + at}/smp_affinity_list").write_text("0-7\n")
        (root / "sys/class/net" / name).mkdir(parents=True)
        for base in (root, ports.root):
            (base / "sys/class/net" / name / "device").symlink_to(root / f"sys/devices/0000:{at}8:00.0")
    return ports


def test_pcie_and_interrupts_are_set_once_and_pcie_alone_waits_for_jobs(tuned: Host, tmp_path: Path) -> None:
    tuned.program("squeue", "echo 7")
    assert tuned.run("nic_link", **TUNED)["steps"] == [TUNING[2], TUNING[5]]
    (tuned.bin / "squeue").unlink()
    assert tuned.converge("nic_link", "pciutils", **TUNED)["steps"] == [TUNING[at] for at in (0, 1, 3, 4)]
    assert [(tmp_path / f"root/proc/irq/{at}/smp_affinity_list").read_text() for at in (70, 71)] == ["0-3\n", "4-7\n"]
    assert len(writes(tuned.device("pciutils"))) == 4


def test_a_ring_that_the_driver_cant_make_is_an_error(ports: Host) -> None:
    group = {**COMPLETE["groups"][0], "ring_size": 65536}
    assert "requested ring size exceeds maximum" in ports.run("nic_link", **{**COMPLETE, "groups": [group]})["msg"]


def test_a_kernel_that_refuses_a_setting_is_an_error(ports: Host, monkeypatch: Any) -> None:
    def refuse(path: Path, value: str) -> None:
        del value
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(settings_io, "write", refuse)
    result = ports.run("nic_link", **COMPLETE)
    assert "conf/rail0/arp_ignore: Operation not permitted" in result["msg"] and not result["changed"]


ROUTED = {**ARGS, "groups": [{"interfaces": PORTS, "mtu_bytes": 1500, "route_table": 1000, "gateway": "last"}]}
ROUTES = [
    step
    for at, name in enumerate(PORTS)
    for step in (
        f"{name}: add route 10.1{at}.0.0/16 table 100{at} dev {name} scope link src 10.1{at}.0.1",
        f"{name}: add route default table 100{at} via 10.1{at}.255.254 dev {name} src 10.1{at}.0.1",
        f"{name}: add rule priority 100{at} from 10.1{at}.0.1 lookup 100{at}",
    )
]


@pytest.fixture
def routed(host: Host, net: Device) -> Host:
    with net.state() as state:
        for at, name in enumerate(PORTS):
            state["links"][name]["addresses"] = [f"10.1{at}.0.1/16"]
        state["rules"] = [{"priority": 999, "src": "10.99.0.1", "table": "7"}]
    return host


def test_each_rail_routes_by_its_own_table_and_the_second_run_only_reads(routed: Host, net: Device) -> None:
    assert routed.converge("nic_link", "net", **ROUTED)["steps"] == ROUTES
    with net.state() as state:
        assert [rule["priority"] for rule in state["rules"]] == [999, 1000, 1001], "others keep their rules"
    assert len(writes(net)) == 6


def test_a_new_address_replaces_rule_and_routes(routed: Host, net: Device) -> None:
    routed.run("nic_link", **ROUTED)
    with net.state() as state:
        state["links"]["rail1"]["addresses"] = ["10.11.0.8/16"]
    done = routed.run("nic_link", **ROUTED)
    assert not done.get("failed") and done["steps"][-1] == "remove rule priority 1001 from 10.11.0.1 lookup 1001"
    with net.state() as state:
        assert [rule["src"] for rule in state["rules"]] == ["10.99.0.1", "10.10.0.1", "10.11.0.8"]
    assert routed.run("nic_link", **ROUTED)["steps"] == []


def test_a_rail_that_is_down_is_pending_and_routes_wait_for_jobs(routed: Host, net: Device) -> None:
    with net.state() as state:
        state["links"]["rail1"]["admin_down"] = True
    done = routed.run("nic_link", **ROUTED)
    assert (done["steps"], done["pending"]) == ([*ROUTES[:3], ROUTES[5]], ["rail1: add its routes: rail1 is down"])
    routed.program("squeue", "echo 7")
    with net.state() as state:
        state["links"]["rail1"]["admin_down"] = False
    assert [text.partition(": Slurm job 7")[0] for text in routed.run("nic_link", **ROUTED)["pending"]] == ROUTES[3:5]


DENIED, NO_ANSWER = (
    "ip failed: RTNETLINK answers: Operation not permitted",
    "gave no answer within [0-9]+ s and was killed",
)
PAUSED = "rail1: set global pause rx to off, not on"
LOCKED = "setpci did not write the register: pcilib: sysfs_write: write failed: Operation not"
MTU = ("host", ARGS, "net", "ip", "set dev rail1")
PAUSE_OFF = ("ports", COMPLETE, "ethtool", "ethtool", "-A rail1 rx")
REGISTER = ("tuned", TUNED, "pciutils", "setpci", "18:00.0 CAP_EXP.08.w=5")
RULE = ("routed", ROUTED, "net", "ip", "rule add priority 1001")


@pytest.mark.parametrize(
    ("place", "effect", "message", "left"),
    [
        (MTU, "refuse", f"{STEPS[1]}: {DENIED}", STEPS[1:]),
        (MTU, "lie", f"RDMA network devices .*: {STEPS[1]}", STEPS[1:2]),
        (MTU, "hang", f"ip {NO_ANSWER}", STEPS[1:]),
        (MTU, "die", "ip failed: no output", STEPS[1:]),
        (MTU, "drift", "RDMA network devices .*: rail1: set MTU 9000", STEPS[1:2]),
        (PAUSE_OFF, "refuse", f"{PAUSED}: ethtool failed: netlink error: Operation not permitted", SETTINGS[10:]),
        (PAUSE_OFF, "lie", f"not in effect: {PAUSED}", SETTINGS[10:11]),
        (REGISTER, "refuse", f"{TUNING[3]}: {LOCKED}", TUNING[3:]),
        (REGISTER, "lie", f"not in effect: {TUNING[3]}", TUNING[3:4]),
        (REGISTER, "hang", f"{TUNING[3]}: setpci {NO_ANSWER}", TUNING[3:]),
        (REGISTER, "die", f"{TUNING[3]}: setpci failed: no output", TUNING[3:]),
        (RULE, "refuse", f"{ROUTES[5]}: {DENIED}", ROUTES[5:]),
        (RULE, "lie", f"not in effect: {ROUTES[5]}", ROUTES[5:]),
        (RULE, "hang", f"{ROUTES[5]}: ip {NO_ANSWER}", ROUTES[5:]),
        (RULE, "die", f"{ROUTES[5]}: ip failed: no output", ROUTES[5:]),
        (RULE, "drift", f"not in effect: {ROUTES[2]}", [ROUTES[2], ROUTES[5]]),
    ],
)
@meet_faults("host")
def test_faults_are_named_with_their_step_and_the_next_run_finishes(
    request: Any, host: Host, place: tuple[Any, ...], effect: str, message: str, left: list[str]
) -> None:
    fixture, arguments, family, tool, match = place
    request.getfixturevalue(fixture)
    host.arm(family, tool, effect, match)
    result = host.fail("nic_link", message, **arguments)
    assert (result["changed"], result["left"]) == (True, left)
    assert host.run("nic_link", **arguments)["steps"] == []


def test_numbers_that_another_program_uses_are_refused(routed: Host, net: Device) -> None:
    with net.state() as state:
        state["rules"] = [{"priority": 1001, "src": "all", "fwmark": "0x1", "table": "9"}]
    refused = routed.run("nic_link", **ROUTED)
    assert "this host has rule priority 1001 from all lookup 9 fwmark 0x1; set nics.route_table" in refused["msg"]
    assert writes(net) == []


def test_networkd_and_network_manager_have_the_routes_too(routed: Host, net: Device) -> None:
    run_managers(routed, networkd="active", manager="active")
    with net.state() as state:
        state["links"]["rail0"]["network_file"] = "/etc/systemd/network/20-rails.network"
        state["links"]["rail1"]["profile"] = "af1e"
    routed.run("nic_link", **ROUTED)
    root = routed.root.parent / "root/etc"
    assert "Priority=1000" in (root / "systemd/network/20-rails.network.d/50-drawbridge-routes.conf").read_text()
    dispatcher = root / "NetworkManager/dispatcher.d/50-drawbridge-routes"
    assert (dispatcher.stat().st_mode & 0o777, "priority 1001" in dispatcher.read_text()) == (0o755, True)
    with net.state() as state:
        state["links"]["rail1"].update(profile="", network_file="/etc/systemd/network/20-rails.network")
    shared = routed.run("nic_link", **ROUTED)["msg"]
    assert "20-rails.network configures rail0 and rail1, which needs other settings" in shared


def test_without_an_mtu_devices_keep_theirs_and_lose_the_files_for_a_boot(host: Host, net: Device) -> None:
    run_managers(host, networkd="active", manager="active")
    kept = {"groups": [{"interfaces": NAMES, "mtu_bytes": 0, "pause_off": False, "ports": NAMES}]}
    with net.state() as state:
        state["links"]["rail0"]["network_file"] = "/run/systemd/network/10-netplan-rail0.network"
        state["links"]["rail1"]["profile"] = "own"
    assert not host.run("nic_link", **{**ARGS, **kept})["changed"]
    assert (own_files(host), mtus(net)) == ({}, dict.fromkeys(NAMES, 1500))
    with net.state() as state:
        state["links"]["rail1"]["profile"] = ""
    assert host.run("nic_link", **ARGS)["changed"] and own_files(host)
    assert len(host.run("nic_link", **{**ARGS, **kept})["steps"]) == 1
    assert (mtus(net), own_files(host)) == (MTUS, {})

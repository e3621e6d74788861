# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The ports as their tool shows them, after converge and a second run, a boot, and a boot with a tool that lies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from testinfra.host import Host

from lab.hosts.paths import Paths
from tests.running import Lab
from tests.stack import lab, ssh, until

testinfra_hosts = [f"ssh://gpu01?ssh_config={Paths.of().ssh_config}&timeout=60"]

RAILS = [f"rail{number}" for number in range(8)]
TSA = "ets,strict,strict,ets,strict,strict,strict,strict"
SHARES = ["-p", "0,0,0,3,0,0,6,0", "-s", TSA, "-t", "50,0,0,50,0,0,0,0"]
LOOK = "/etc/drawbridge/slurm/health.d/20-nic"
NCCL = {"NCCL_IB_HCA": "=" + ",".join(f"mlx5_{number}" for number in range(8)), "NCCL_IB_TC": "106"}


@pytest.mark.parametrize("rail", RAILS)
def test_the_class_is_lossless_on_every_rail(host: Host, rail: str) -> None:
    report = host.check_output(f"mlnx_qos -i {rail}").splitlines()
    assert "Priority trust state: dscp" in report
    assert "\tenabled     0   0   0   1   0   0   0   0   " in report
    mapped = {line.split()[0]: line.split(":")[-1].split(",") for line in report if line.startswith("\tprio:")}
    assert "26" in mapped["prio:3"]
    assert "48" in mapped["prio:6"]
    assert "tc: 3 ratelimit: unlimited, tsa: ets, bw: 50%\n\t priority:  3\n" in "\n".join(report)
    assert "tc: 6 ratelimit: unlimited, tsa: strict" in report


def test_every_link_bounced_once_and_the_second_run_wrote_nothing(host: Host) -> None:
    state = json.loads(host.check_output("cat /var/lib/lab/mlnx_qos/state.json"))
    assert {rail: state["ports"][rail]["link_flaps"] for rail in RAILS} == dict.fromkeys(RAILS, 1)
    calls = [json.loads(line) for line in host.check_output("cat /var/lib/lab/mlnx_qos/journal.jsonl").splitlines()]
    written = [call["argv"] for call in calls if call["writes"]]
    assert sorted(written) == sorted(
        [
            ["-i", rail, *change]
            for rail in RAILS
            for change in (["--trust", "dscp"], SHARES, ["--pfc", "0,0,0,1,0,0,0,0"])
        ]
    )


def test_nccl_marks_what_the_ports_keep_lossless(host: Host) -> None:
    lines = host.check_output("cat /etc/nccl.conf").splitlines()
    assert "NCCL_IB_TC=106" in lines
    assert "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7" in lines


def settings(rail: int) -> list[str]:
    """Its MTU, the mark of CNPs and of RDMA-CM's connections, as the kernel has them."""
    debug = f"/sys/kernel/debug/mlx5/0000:{0x18 + 0x10 * rail:02x}:00.0/cc_params"
    defaults = f"/sys/kernel/config/rdma_cm/mlx5_{rail}/ports/1"
    arp = " ".join(f"/proc/sys/net/ipv4/conf/rail{rail}/{name}" for name in ("arp_ignore", "arp_announce", "rp_filter"))
    files = f"/sys/class/net/rail{rail}/mtu {debug}/np_cnp_dscp {debug}/np_cnp_prio {defaults}/default_roce_tos {arp}"
    files += f" /proc/irq/{200 + 2 * rail}/smp_affinity_list /proc/irq/{201 + 2 * rail}/smp_affinity_list"
    pause = ssh("gpu01", f"ethtool --json -a rail{rail}")
    register = ssh("gpu01", f"setpci -s {0x18 + 0x10 * rail:02x}:00.0 CAP_EXP+08.w")
    return [*ssh("gpu01", f"cat {files}").split(), str(json.loads(pause)[0]["rx"]), register]


def right(rail: int) -> list[str]:
    """The same as the intent has it."""
    near = "0-63" if rail < 4 else "64-127"
    return ["9000", "48", "6", "106", "1", "2", "2", near, near, "False", "5910"]


@pytest.mark.parametrize("rail", range(8))
def test_mtu_and_marks_are_those_of_the_fabric(rail: int) -> None:
    assert settings(rail) == right(rail)


SLURMD = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
"""Stands for the daemon of another scenario: it waits for the ports as the real one does."""


def boot() -> None:
    """Take the power from the node, give it back, and wait for slurmd."""
    lab("power-cut", "gpu01")
    lab("up", "gpu01")
    until(lambda: ssh("gpu01", "systemctl is-active slurmd.service || true") == "active", 60, "slurmd runs")


def found() -> str:
    """What slurm-health would drain the node for."""
    return ssh("gpu01", f"{LOOK} 2>&1 || true")


def test_after_a_power_cut_the_ports_are_lossless_before_slurmd_starts() -> None:
    ssh("gpu01", "cat > /etc/systemd/system/slurmd.service", SLURMD)
    ssh("gpu01", "systemctl daemon-reload; systemctl enable slurmd.service; sync")
    boot()
    began = {
        unit: int(ssh("gpu01", f"systemctl show --value --property {stamp} {unit}"))
        for unit, stamp in (
            ("drawbridge-nic", "ExecMainExitTimestampMonotonic"),
            ("slurmd", "ExecMainStartTimestampMonotonic"),
        )
    }
    assert 0 < began["drawbridge-nic"] <= began["slurmd"]
    assert ssh("gpu01", "systemctl show --value --property LimitMEMLOCK slurmd") == "infinity"
    assert found() == ""
    assert [settings(rail) for rail in range(8)] == [right(rail) for rail in range(8)]
    flaps = json.loads(ssh("gpu01", "cat /var/lib/lab/mlnx_qos/state.json"))["ports"]
    assert {rail: flaps[rail]["link_flaps"] for rail in RAILS} == dict.fromkeys(RAILS, 2)


def test_a_drift_is_a_finding_and_the_unit_repairs_it() -> None:
    ssh("gpu01", "mlnx_qos -i rail5 --dscp2prio set,26,4")
    assert found() == "NIC settings differ, run nic.yml: rail5: put DSCP 26 into priority 3, not 4"
    ssh("gpu01", "systemctl restart drawbridge-nic")
    assert found() == ""


DIRTY = {
    "an MTU": ("ip link set dev rail2 mtu 1500", "rail2: set MTU 9000, not 1500"),
    "the operator's CNPs": (
        "echo 4 > /sys/kernel/debug/mlx5/0000:38:00.0/cc_params/np_cnp_dscp",
        "rail2: set CNP DSCP to 48, not 4",
    ),
    "ARP for other rails": ("sysctl -qw net.ipv4.conf.rail2.arp_ignore=0", "rail2: set arp_ignore to 1, not 0"),
    "global pause": ("ethtool -A rail2 rx on", "rail2: set global pause rx to off, not on"),
    "PCIe": ("setpci -s 38:00.0 CAP_EXP+08.w=0000:7000", "rail2: set PCIe read request to 4096, not 128"),
    "interrupts": (
        "echo 64-127 > /proc/irq/204/smp_affinity_list",
        "rail2: set interrupts to NUMA node 0, not CPUs 0-127",
    ),
    "RDMA-CM's default": (
        "echo 0 > /sys/kernel/config/rdma_cm/mlx5_2/ports/1/default_roce_tos",
        "rail2: set default_roce_tos to 106, not 0",
    ),
}


@pytest.mark.parametrize("dirty", DIRTY)
def test_every_dirty_setting_is_a_finding_and_the_unit_repairs_it(dirty: str) -> None:
    command, finding = DIRTY[dirty]
    ssh("gpu01", command)
    assert found() == f"NIC settings differ, run nic.yml: {finding}"
    ssh("gpu01", "systemctl restart drawbridge-nic")
    assert (found(), settings(2)) == ("", right(2))


def test_after_a_reload_of_the_driver_each_ports_own_unit_sets_it_again() -> None:
    """The lab has no udev, so that the test starts what a device unit would."""
    counted = "grep -o '\"link_flaps\": [0-9]*' /var/lib/lab/mlnx_qos/state.json"
    flaps = ssh("gpu01", counted)
    ssh("gpu01", "openibd restart")
    assert "rail0: share the link: 50 % for priority" in found()
    for rail in RAILS:
        drop_in = f"/etc/systemd/system/sys-subsystem-net-devices-{rail}.device.d/50-drawbridge-nic.conf"
        assert f"Wants=drawbridge-nic@{rail}.service" in ssh("gpu01", f"cat {drop_in}")
        ssh("gpu01", f"drawbridge-nic apply {rail}")
    assert (found(), [settings(rail) for rail in range(8)]) == ("", [right(rail) for rail in range(8)])
    assert ssh("gpu01", counted) == flaps, "PFC was right all the time"


def test_systemd_networkd_keeps_the_mtu_of_a_device_that_it_configures() -> None:
    site = "[Match]\nName=rail6\n\n[Network]\nLinkLocalAddressing=no\n"
    ssh("gpu01", "cat > /etc/systemd/network/60-site.network; systemctl start systemd-networkd", site)
    until(lambda: "60-site" in ssh("gpu01", "networkctl --no-pager status rail6"), 60, "networkd has rail6")
    ssh("gpu01", "systemctl restart drawbridge-nic")
    try:
        ssh("gpu01", "ip link set dev rail6 mtu 1500; systemctl restart systemd-networkd")
        until(lambda: settings(6) == right(6), 60, "networkd sets the MTU by our drop-in")
        assert found() == ""
    finally:
        ssh("gpu01", "rm /etc/systemd/network/60-site.network; systemctl stop systemd-networkd.socket systemd-networkd")
    ssh("gpu01", "systemctl restart drawbridge-nic")
    assert ssh("gpu01", "ls /etc/systemd/network/*/50-drawbridge-mtu.conf 2>&1 || true").startswith("ls: cannot")


def routing(rail: int) -> list[str]:
    """The rules and routes that have this rail's number, as the kernel has them."""
    number = 1000 + rail
    shown = ssh("gpu01", f"ip rule show priority {number}; ip route show table {number} 2>&1 || true")
    return [line.strip() for line in shown.replace("Error: ipv4: FIB table does not exist.", "").splitlines() if line]


ROUTED = [
    "1007:\tfrom 10.97.0.7 lookup 1007 proto static",
    "10.97.0.0/24 dev rail7 proto static scope link src 10.97.0.7",
]


def test_systemd_networkd_keeps_the_rule_and_the_routes_of_a_rail_and_stacks_none() -> None:
    site = "[Match]\nName=rail7\n\n[Network]\nLinkLocalAddressing=no\nAddress=10.97.0.7/24\n"
    ssh("gpu01", "cat > /etc/systemd/network/61-site.network; systemctl start systemd-networkd", site)
    until(lambda: "10.97.0.7" in ssh("gpu01", "ip -4 addr show dev rail7"), 60, "rail7 has its address")
    try:
        assert found() == (
            "NIC settings differ, run nic.yml: "
            "write /etc/systemd/network/61-site.network.d/50-drawbridge-mtu.conf, for the settings after a boot"
        )
        ssh("gpu01", "systemctl restart drawbridge-nic")
        assert (routing(7), found()) == (ROUTED, "")
        ssh("gpu01", "ip rule del priority 1007; ip route flush table 1007; systemctl restart systemd-networkd")
        until(lambda: routing(7) == ROUTED, 60, "networkd sets rule and route by our drop-in")
        ssh("gpu01", "systemctl restart drawbridge-nic systemd-networkd")
        until(lambda: routing(7) == ROUTED, 60, "they are there once")
        assert found() == ""
    finally:
        ssh("gpu01", "rm /etc/systemd/network/61-site.network; systemctl stop systemd-networkd.socket systemd-networkd")
        ssh("gpu01", "ip addr flush dev rail7; systemctl restart drawbridge-nic")
    assert (routing(7), found()) == ([], "")
    assert ssh("gpu01", "ls /etc/systemd/network/*/50-drawbridge-*.conf 2>&1 || true").startswith("ls: cannot")


def test_a_tool_that_lies_at_a_boot_keeps_jobs_off_until_slurmd_starts_again() -> None:
    lab("fault", "gpu01", "mlnx_qos", "lie", "--match", "rail3 --pfc", "--times", "0")
    pfc = "rail3: make priority 3 lossless, not none"
    try:
        boot()
        assert ssh("gpu01", "systemctl is-active drawbridge-nic.service || true") == "failed"
        told = ssh("gpu01", "journalctl --boot --unit drawbridge-nic --output cat")
        assert f": {pfc}" in told
        assert found() == f"NIC settings differ, run nic.yml: {pfc}"
    finally:
        lab("fault", "gpu01", "mlnx_qos", "--clear")
    ssh("gpu01", "systemctl restart slurmd.service")
    assert ssh("gpu01", "systemctl is-active drawbridge-nic.service") == "active"
    assert found() == ""


def test_what_a_boot_makes_follows_the_intent() -> None:
    def run(qos: list[dict[str, Any]]) -> list[str]:
        settings = {**placed(), "qos": qos}
        view: dict[str, Any] = {part: {"groups": groups, "slurm_node": "gpu01"} for part, groups in settings.items()}
        view["roce"] = {"groups": settings["roce"]}
        view["blocks"] = [{"path": "/etc/nccl.conf", "content": "".join(f"{key}={NCCL[key]}\n" for key in NCCL)}]
        # what shares the folder with it stays
        boot = {"path": "/etc/drawbridge/nic.json", "content": json.dumps(settings, indent=4, sort_keys=True) + "\n"}
        view["files"] = [boot]
        variables = json.dumps({"fabric_nic_view": view})
        done = Lab(Paths.of()).playbook("../molecule/fabric_nic/converge", "--extra-vars", variables)
        assert done.code == 0, done.output
        return done.changed()

    def placed() -> dict[str, Any]:
        return json.loads(ssh("gpu01", "cat /etc/drawbridge/nic.json"))

    [rails] = placed()["qos"]
    entries = {entry["dscp"]: entry["priority"] for entry in rails["dscp_priorities"]}
    assert (rails["interfaces"], rails["lossless_priorities"], entries) == (RAILS, [3], {26: 3, 48: 6})
    other = [{**rails, "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 5}]}]
    assert len(run(other)) == 2
    assert (placed()["qos"], found()) == (other, "")
    assert run(other) == []

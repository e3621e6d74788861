# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The ports as their tool shows them, after converge and a second run."""

from __future__ import annotations

import json

import pytest
from testinfra.host import Host

from lab.hosts.paths import Paths
from tests.stack import lab, ssh, until

testinfra_hosts = [f"ssh://gpu01?ssh_config={Paths.of().ssh_config}&timeout=60"]

RAILS = [f"rail{number}" for number in range(8)]


@pytest.mark.parametrize("rail", RAILS)
def test_the_class_is_lossless_on_every_rail(host: Host, rail: str) -> None:
    report = host.check_output(f"mlnx_qos -i {rail}").splitlines()
    assert "Priority trust state: dscp" in report
    assert "\tenabled     0   0   0   1   0   0   0   0   " in report
    mapped = {line.split()[0]: line.split(":")[-1].split(",") for line in report if line.startswith("\tprio:")}
    assert "26" in mapped["prio:3"]
    assert "48" in mapped["prio:6"]


def test_every_link_bounced_once_and_the_second_run_wrote_nothing(host: Host) -> None:
    state = json.loads(host.check_output("cat /var/lib/lab/mlnx_qos/state.json"))
    assert {rail: state["ports"][rail]["link_flaps"] for rail in RAILS} == dict.fromkeys(RAILS, 1)
    calls = [json.loads(line) for line in host.check_output("cat /var/lib/lab/mlnx_qos/journal.jsonl").splitlines()]
    written = [call["argv"] for call in calls if call["writes"]]
    assert sorted(written) == sorted(
        [["-i", rail, *change] for rail in RAILS for change in (["--trust", "dscp"], ["--pfc", "0,0,0,1,0,0,0,0"])]
    )


def test_nccl_marks_what_the_ports_keep_lossless(host: Host) -> None:
    lines = host.check_output("cat /etc/nccl.conf").splitlines()
    assert "NCCL_IB_TC=106" in lines
    assert "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7" in lines


SLURMD = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
"""Stands for the daemon of another scenario: it waits for the ports as the real one does."""


def test_after_a_power_cut_the_ports_are_lossless_before_slurmd_starts() -> None:
    ssh("gpu01", "cat > /etc/systemd/system/slurmd.service", SLURMD)
    ssh("gpu01", "systemctl daemon-reload; systemctl enable slurmd.service; sync")
    lab("power-cut", "gpu01")
    lab("up", "gpu01")
    until(lambda: ssh("gpu01", "systemctl is-active slurmd.service || true") == "active", 60, "slurmd runs")
    began = {
        unit: int(ssh("gpu01", f"systemctl show --value --property {stamp} {unit}"))
        for unit, stamp in (
            ("drawbridge-nic", "ExecMainExitTimestampMonotonic"),
            ("slurmd", "ExecMainStartTimestampMonotonic"),
        )
    }
    assert 0 < began["drawbridge-nic"] <= began["slurmd"]
    assert ssh("gpu01", "/etc/drawbridge/slurm/health.d/20-nic") == ""
    flaps = json.loads(ssh("gpu01", "cat /var/lib/lab/mlnx_qos/state.json"))["ports"]
    assert {rail: flaps[rail]["link_flaps"] for rail in RAILS} == dict.fromkeys(RAILS, 2)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two Thor 2 NICs beside eight MI300X, on a leaf that runs SONiC: both ends have one lossless class."""

from __future__ import annotations

import json
import re

import pytest

from tests.running import Lab
from tests.stack import PATHS

NODE, LEAF = "amd01", "leaf1"
RAILS = ["rail0", "rail1"]
PORTS = ["Ethernet0", "Ethernet4"]


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(PATHS, ("molecule/gpus/inventory",))


@pytest.mark.parametrize("rail", RAILS)
def test_the_kernels_own_tool_has_made_a_port_lossless(lab: Lab, rail: str) -> None:
    said = {it: json.loads(lab.ssh(NODE, f"dcb -j -N {it} show dev {rail}")) for it in ("pfc", "app")}
    assert [at for at, on in enumerate(said["pfc"]["prio_pfc"]) if on] == [3]
    assert {tuple(entry[:2]) for entry in said["app"]["dscp_prio"]} >= {(26, 3), (48, 7)}
    assert lab.ssh(NODE, f"cat /sys/class/net/{rail}/mtu") == "9000\n"


def test_connections_of_rdma_cm_are_in_the_class(lab: Lab) -> None:
    marks = lab.ssh(NODE, "cat /sys/kernel/config/rdma_cm/bnxt_re*/ports/1/default_roce_tos").split()
    assert marks == [str(26 << 2 | 2)] * 2


@pytest.mark.parametrize("file", ["/etc/nccl.conf", "/etc/rccl.conf"])
def test_collectives_use_the_rails_in_that_class(lab: Lab, file: str) -> None:
    lines = lab.ssh(NODE, f"cat {file}").splitlines()
    assert "NCCL_IB_HCA==bnxt_re0,bnxt_re1" in lines
    assert f"NCCL_IB_TC={26 << 2 | 2}" in lines


def test_the_leaf_pauses_that_class_on_each_port_of_the_node(lab: Lab) -> None:
    pausing = re.findall(r"^(Ethernet\d+) +3 *\r?$", lab.ssh(LEAF, "show pfc priority"), re.MULTILINE)
    assert pausing == PORTS
    running = lab.ssh(LEAF, "sonic-cfggen -d --print-data")
    assert {port: json.loads(running)["PORT"][port]["mtu"] for port in PORTS} == dict.fromkeys(PORTS, "9216")
    assert running == lab.ssh(LEAF, "cat /etc/sonic/config_db.json"), "it stays over a boot"


def test_no_tool_of_another_vendor_is_there(lab: Lab) -> None:
    assert lab.ssh(NODE, "command -v mlnx_qos mlxconfig nvidia-smi || true") == ""

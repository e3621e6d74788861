# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.artefacts_view import (
    PLACES,
    READS,
    gpu_instances,
    mlnx_qos,
    nic_link,
    nic_roce,
    slurm_accounting,
)

from tests.conformance.tree import MODULES

FOREIGN = {"k8s", "validate_argument_spec"}


def test_known_modules_exist() -> None:
    """The other direction is the action's: it fails for a module that is not known."""
    assert {*PLACES, *READS} - FOREIGN <= {path.stem for path in MODULES}


@pytest.mark.parametrize(
    ("dscp", "mapped"), [(26, []), (34, ["mlnx_qos -i rail0 --dscp2prio set,34,3"])], ids=["as the default", "other"]
)
def test_nics_start_as_they_left_the_factory(dscp: int, mapped: list[str]) -> None:
    assert mlnx_qos(
        [{"interfaces": ["rail0"], "lossless_priorities": [3], "dscp_priorities": [{"dscp": dscp, "priority": 3}]}]
    ).lines == [
        "mlnx_qos -i rail0 -d os",
        "mlnx_qos -i rail0 --trust dscp",
        *mapped,
        "mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0",
    ]


def test_gpus_are_divided_or_stay_whole() -> None:
    divided = gpu_instances([{}, {"3g.40gb": 1, "1g.10gb": 2}]).lines
    assert (divided, gpu_instances([]).lines) == (["divide GPU 1 into 1g.10gb: 2, 3g.40gb: 1"], ["all GPUs stay whole"])


GROUP = {
    "interfaces": ["rail0"],
    "lossless_priorities": [3],
    "dscp_priorities": [{"dscp": 26, "priority": 3}],
    "bandwidth": [{"priority": 3, "percent": 50}],
}


@pytest.mark.parametrize(
    ("vendor", "first", "has"),
    [
        ("15b3", "mlnx_qos -i rail0 -d os", "mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0"),
        (
            "14e4",
            "dcb dcbx set dev rail0 host ieee",
            "dcb pfc set dev rail0 prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off",
        ),
        ("8086", "ethtool --set-priv-flags rail0 fw-lldp-agent off", "dcb app add dev rail0 dscp-prio 26:3"),
    ],
)
def test_the_tool_is_that_of_the_nics_vendor(vendor: str, first: str, has: str) -> None:
    lines = mlnx_qos([{**GROUP, "pci_vendor": vendor}]).lines
    assert lines[0] == first
    assert has in lines
    assert {line.split()[0] for line in lines} <= {"mlnx_qos"} if vendor == "15b3" else "mlnx_qos" not in str(lines)


def test_every_setting_of_a_device_is_typed_as_a_person_would() -> None:
    group = {"interfaces": ["rail0"], "mtu_bytes": 9000, "own_addresses": True, "ports": ["rail0"], "ring_size": 8192}
    group |= {"read_request_bytes": 4096, "relaxed_ordering": "enabled", "interrupts_numa": [1]}
    pci = "$(basename $(readlink -f /sys/class/net/rail0/device))"
    assert nic_link([{**group, "route_table": 100, "gateway": "first"}]).lines == [
        "ip link set dev rail0 mtu 9000",
        "sysctl -w net/ipv4/conf/rail0/arp_ignore=1",
        "sysctl -w net/ipv4/conf/rail0/arp_announce=2",
        "sysctl -w net/ipv4/conf/rail0/rp_filter=2",
        "ethtool -A rail0 rx off",
        "ethtool -A rail0 tx off",
        "ethtool -G rail0 rx 8192",
        "ethtool -G rail0 tx 8192",
        f"setpci -s {pci} CAP_EXP+08.w=5000:7000",
        f"setpci -s {pci} CAP_EXP+08.w=0010:0010",
        "rail0: its interrupts on the CPUs of NUMA node 1",
        "rail0: a rule with priority 100 for its address, and table 100 with the routes of its subnet, through its"
        " first address",
    ]


def test_firmware_is_in_the_plan() -> None:
    [line] = nic_roce([], [{"ports": ["rail0"], "parameters": ["ATS_ENABLED=0", "SRIOV_EN=1"]}]).lines
    pci = "$(basename $(readlink -f /sys/class/net/rail0/device))"
    assert line == f"mlxconfig -d {pci} -y set ATS_ENABLED=0 SRIOV_EN=1"


def test_accounting_reads_as_sacctmgr_calls_things() -> None:
    vision = {"name": "vision", "users": ["ada"], "groups": ["people"], "ends": "2027-03-31"}
    accounts: list[dict[str, Any]] = [{**vision, "terms": {"fairshare": 2}}]
    absent = {"accounts": ["old"], "qos": ["slow"]}
    assert slurm_accounting(accounts, [{"name": "normal", "terms": {"Priority": 10}}], absent).lines == [
        "qos normal Priority=10 PreemptMode=cluster",
        "account vision parent=root fairshare=2",
        "user ada account vision *",
        "group people account vision",
        "account vision ends 2027-03-31",
        "no account old",
        "no qos slow",
    ]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of counters are those that drivers print; the collector puts underscores for dots before it compares."""

from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.node_flags import (
    counters,
    flags,
)

MLX5 = (
    *("rx_prio3_pause", "tx_prio3_pause", "rx_prio3_pause_duration", "tx_prio3_pause_duration"),
    *("rx_prio3_pause_transition", "rx_prio3_discards", "rx_prio3_buf_discard", "rx_prio3_cong_discard"),
    *("rx_prio3_marked", "rx_discards_phy", "tx_discards_phy", "rx_out_of_buffer", "rx_global_pause"),
    *("tx_global_pause", "tx_pause_storm_warning_events", "tx_pause_storm_error_events"),
)
ICE = (
    "rx_priority_3_xoff.nic",
    "tx_priority_3_xoff.nic",
    "rx_priority_3_xon.nic",
    "rx_dropped.nic",
    "link_xoff_rx.nic",
)
BNXT = (
    *("rx_pfc_ena_frames_pri3", "tx_pfc_ena_frames_pri3", "pfc_pri3_rx_duration_us", "pfc_pri3_tx_transitions"),
    *("rx_stat_discard", "continuous_roce_pause_events"),
)
IONIC = ("frames_rx_pripause", "frames_tx_pripause", "frames_rx_dropped")
OTHERS = (
    *("rx_prio4_pause", "rx_prio3_packets", "rx_prio3_bytes", "rx_bytes", "rx0_packets", "ch7_poll", "rx_pfc_frames"),
    *("rx_priority_4_xoff.nic", "rx_pfc_ena_frames_pri4", "rx_discards_phys", "my_rx_discards_phy"),
)


@pytest.mark.parametrize("name", [*MLX5, *ICE, *BNXT, *IONIC])
def test_counters_of_lossless_traffic_are_read(name: str) -> None:
    pattern = counters([3])
    assert re.search(pattern, name) and re.search(pattern, name.replace(".", "_"))


def test_the_other_counters_are_not() -> None:
    assert [name for name in OTHERS if re.search(counters([3]), name)] == []


def test_more_priorities_or_all() -> None:
    assert [p for p in range(8) if re.search(counters([6, 3]), f"rx_prio{p}_pause")] == [3, 6]
    assert all(re.search(counters([]), f"rx_prio{p}_pause") for p in range(8))


def test_devices_are_the_given_ones_alone() -> None:
    found = {it["own"]: it["flags"] for it in flags(["rail0", "rail1.5"], ["mlx5_0"], [3])}
    device = found["collector.ethtool"][1].partition("=")[2]
    assert [name for name in ("rail0", "rail1.5", "rail1x5", "rail01") if re.search(device, name)] == [
        "rail0",
        "rail1.5",
    ]
    assert found["collector.infiniband"] == [
        "--collector.infiniband",
        "--collector.infiniband.device-include=^(mlx5_0)$",
    ]


def test_a_host_without_rdma_ports_has_files_and_links() -> None:
    owns = [it["own"] for it in flags([], [], [])]
    directory = "collector.textfile.directory"
    assert owns == [f"{directory}=/run/drawbridge/metrics", directory, "collector.pcidevice"]


def test_no_flag_has_a_blank_which_would_part_it() -> None:
    assert not [word for it in flags(["rail0"], ["mlx5_0"], [3]) for word in it["flags"] if re.search(r"\s", word)]

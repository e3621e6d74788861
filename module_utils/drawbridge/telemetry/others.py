# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of other programs that Drawbridge reads: name, what has one series, meaning, and where the name is from.

Prometheus keeps these alone of the pages that Drawbridge tells it to scrape. Rules and dashboards read no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HOST, NODE, GPU, RDMA, RAIL = "host", "node", "GPU", "RDMA device", "rail"
QUEUE, FILE = "rail and lossless priority", "text file"
MOUNT, OPERATION = "NFS mount", "NFS mount and operation"
SITE, PARTITION = "site", "partition"


@dataclass(frozen=True)
class Other:
    """One metric. Its name is a regular expression where a number in it says which priority."""

    name: str
    unit: str
    """What has one series of it."""
    about: str
    newer: str = ""
    """The name since a later release; both have the same values."""
    instead: bool = False
    """Whether it is there in place of others, with other hardware."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each release."""
        return (self.name, self.newer) if self.newer else (self.name,)


@dataclass(frozen=True)
class Exporter:
    """A program whose metrics are read."""

    title: str
    source: str
    """Which files of which release the names are from."""
    metrics: tuple[Other, ...]

    @property
    def names(self) -> list[str]:
        """All names, old and new, in the order of the table."""
        return [name for metric in self.metrics for name in metric.names]


_IB, _ETH, _NFS = "node_infiniband_", "node_ethtool_", "node_mountstats_nfs_"
_NODE_EXPORTER = (
    Other("node_exporter_build_info", HOST, "Its release."),
    Other("node_boot_time_seconds", HOST, "Time of the last boot."),
    Other("node_load1", HOST, "Load of the last minute."),
    Other("node_memory_MemTotal_bytes", HOST, "Memory of the host."),
    Other("node_memory_MemAvailable_bytes", HOST, "Memory that programs can still get."),
    Other("node_pressure_cpu_waiting_seconds_total", HOST, "Time in which a task waited for a CPU."),
    Other("node_pressure_io_waiting_seconds_total", HOST, "Time in which a task waited for a disk."),
    Other("node_pressure_memory_waiting_seconds_total", HOST, "Time in which a task waited for memory."),
    Other("node_textfile_scrape_error", HOST, "1 if a text file could not be read."),
    Other("node_textfile_mtime_seconds", FILE, "When a text file was written last."),
    Other(f"{_IB}info", RDMA, "Model and firmware."),
    Other(f"{_IB}state_id", RDMA, "State of the port; 4 is active."),
    Other(f"{_IB}rate_bytes_per_second", RDMA, "Rate of the port."),
    Other(f"{_IB}link_downed_total", RDMA, "How often the link went down."),
    Other(f"{_IB}port_data_received_bytes_total", RDMA, "Bytes received by RDMA."),
    Other(f"{_IB}port_data_transmitted_bytes_total", RDMA, "Bytes sent by RDMA."),
    Other(f"{_IB}np_cnp_packets_sent_total", RDMA, "CNPs that the port sent, because packets came marked."),
    Other(f"{_IB}np_ecn_marked_roce_packets_received_total", RDMA, "Packets that came marked (ECN)."),
    Other(f"{_IB}rp_cnp_packets_handled_total", RDMA, "CNPs for which the port sent more slowly."),
    Other(f"{_IB}rp_cnp_ignored_packets_received_total", RDMA, "CNPs that the port ignored: ECN is off there."),
    Other(f"{_IB}packet_sequence_errors_total", RDMA, "Negative answers, after which the port sends again."),
    Other(f"{_IB}implied_nak_seq_errors_total", RDMA, "Answers with a gap, after which the port sends again."),
    Other(f"{_IB}local_ack_timeout_errors_total", RDMA, "Answers that did not come in time."),
    Other(f"{_IB}out_of_sequence_packets_received_total", RDMA, "Packets that came out of order, or after a loss."),
    Other(f"{_IB}out_of_buffer_drops_total", RDMA, "Packets dropped because the program offered no buffer."),
    Other(f"{_IB}roce_adp_retransmits_total", RDMA, "Packets sent again by adaptive retransmission."),
    Other("node_network_up", RAIL, "1 if the link is up."),
    Other("node_network_speed_bytes", RAIL, "Rate of the link."),
    Other("node_network_carrier_changes_total", RAIL, "How often the link went up or down."),
    Other("node_pcidevice_current_link_width", RAIL, "PCIe lanes in use."),
    Other("node_pcidevice_max_link_width", RAIL, "PCIe lanes of the NIC."),
    Other("node_pcidevice_current_link_transfers_per_second", RAIL, "PCIe speed in use."),
    Other("node_pcidevice_max_link_transfers_per_second", RAIL, "PCIe speed of the NIC."),
    Other(f"{_ETH}received_prio[0-7]_pause", QUEUE, "Pause frames received (mlx5)."),
    Other(f"{_ETH}transmitted_prio[0-7]_pause", QUEUE, "Pause frames sent (mlx5)."),
    Other(f"{_ETH}received_prio[0-7]_pause_duration", QUEUE, "Microseconds in which the port was stopped (mlx5)."),
    Other(
        f"{_ETH}transmitted_prio[0-7]_pause_duration", QUEUE, "Microseconds in which it stopped the other end (mlx5)."
    ),
    Other(f"{_ETH}transmitted_pause_storm_warning_events", RAIL, "How often it stopped the other end for long (mlx5)."),
    Other(f"{_ETH}received_global_pause", RAIL, "Pause frames for all priorities: PFC is not in force (mlx5)."),
    Other(f"{_ETH}received_discards_phy", RAIL, "Packets that the port dropped on receipt (mlx5)."),
    Other(f"{_ETH}transmitted_discards_phy", RAIL, "Packets that the port dropped before it sent them (mlx5)."),
    Other(f"{_ETH}received_prio[0-7]_buf_discard", QUEUE, "Packets dropped for want of buffer (mlx5)."),
    Other(f"{_ETH}received_priority_[0-7]_xoff_nic", QUEUE, "Pause frames received (ice).", instead=True),
    Other(f"{_ETH}transmitted_priority_[0-7]_xoff_nic", QUEUE, "Pause frames sent (ice).", instead=True),
    Other(f"{_ETH}port_received_xoff_prio_[0-7]_events", QUEUE, "The same, by Intel's driver.", instead=True),
    Other(f"{_ETH}port_transmitted_xoff_prio_[0-7]_events", QUEUE, "The same, by Intel's driver.", instead=True),
    Other(f"{_ETH}received_dropped_nic", RAIL, "Packets that the port dropped on receipt (ice).", instead=True),
    Other(f"{_ETH}received_bytes_nic", RAIL, "Bytes received (ice).", instead=True),
    Other(f"{_ETH}transmitted_bytes_nic", RAIL, "Bytes sent (ice).", instead=True),
    Other(f"{_ETH}received_pfc_ena_frames_pri[0-7]", QUEUE, "Pause frames received (bnxt).", instead=True),
    Other(f"{_ETH}transmitted_pfc_ena_frames_pri[0-7]", QUEUE, "Pause frames sent (bnxt).", instead=True),
    Other(f"{_ETH}received_stat_discard", RAIL, "Packets that the port dropped on receipt (bnxt).", instead=True),
    Other(f"{_ETH}received_bytes_total", RAIL, "Bytes received (bnxt).", instead=True),
    Other(f"{_ETH}transmitted_bytes_total", RAIL, "Bytes sent (bnxt).", instead=True),
    Other(f"{_ETH}frames_received_pripause", RAIL, "Pause frames received, of all priorities (ionic).", instead=True),
    Other(f"{_ETH}frames_transmitted_pripause", RAIL, "Pause frames sent, of all priorities (ionic).", instead=True),
    Other(f"{_ETH}frames_received_dropped", RAIL, "Packets that the port dropped on receipt (ionic).", instead=True),
    Other(f"{_NFS}read_bytes_total", MOUNT, "Bytes that programs read."),
    Other(f"{_NFS}total_read_bytes_total", MOUNT, "Bytes read from the server."),
    Other(f"{_NFS}total_write_bytes_total", MOUNT, "Bytes written to the server."),
    Other(f"{_NFS}operations_requests_total", OPERATION, "Requests to the server."),
    Other(f"{_NFS}operations_request_time_seconds_total", OPERATION, "Time until they were done."),
)
_DEV, _PROF = "DCGM_FI_DEV_", "DCGM_FI_PROF_"
_DCGM = (
    Other(f"{_DEV}GPU_UTIL", GPU, "Part of the time with a kernel, in percent.", f"{_DEV}GPU_UTIL_RATIO"),
    Other(f"{_PROF}GR_ENGINE_ACTIVE", GPU, "Part of the time in which it computes.", f"{_PROF}GR_ENGINE_UTIL_RATIO"),
    Other(f"{_PROF}SM_ACTIVE", GPU, "Part of the cycles in which SMs have work.", f"{_PROF}SM_UTIL_RATIO"),
    Other(f"{_PROF}SM_OCCUPANCY", GPU, "Warps on SMs, of as many as fit.", f"{_PROF}SM_OCCUPANCY_RATIO"),
    Other(f"{_PROF}PIPE_TENSOR_ACTIVE", GPU, "Part of the cycles with tensor cores.", f"{_PROF}TENSOR_UTIL_RATIO"),
    Other(f"{_PROF}DRAM_ACTIVE", GPU, "Part of the cycles with memory traffic.", f"{_PROF}DRAM_UTIL_RATIO"),
    Other(f"{_PROF}PCIE_TX_BYTES", GPU, "Bytes per second to PCIe."),
    Other(f"{_PROF}PCIE_RX_BYTES", GPU, "Bytes per second from PCIe."),
    Other(f"{_PROF}NVLINK_TX_BYTES", GPU, "Bytes per second to NVLink."),
    Other(f"{_PROF}NVLINK_RX_BYTES", GPU, "Bytes per second from NVLink."),
    Other(
        f"{_DEV}NVLINK_BANDWIDTH_TOTAL",
        GPU,
        "Present rate over all NVLinks in 1,024,000 bytes per second; its type says counter.",
        f"{_DEV}NVLINK_THROUGHPUT_TOTAL",
    ),
    Other(f"{_DEV}FB_USED", GPU, "Used memory in MiB."),
    Other(f"{_DEV}FB_FREE", GPU, "Free memory in MiB."),
    Other(f"{_DEV}POWER_USAGE", GPU, "Power in watts.", f"{_DEV}BOARD_POWER_WATTS"),
    Other(f"{_DEV}TOTAL_ENERGY_CONSUMPTION", GPU, "Energy since the driver was loaded, in mJ."),
    Other(f"{_DEV}GPU_TEMP", GPU, "Temperature in Celsius.", f"{_DEV}GPU_TEMP_CELSIUS"),
    Other(f"{_DEV}MEMORY_TEMP", GPU, "Temperature of the memory in Celsius.", f"{_DEV}MEMORY_TEMP_CELSIUS"),
    Other(f"{_DEV}SM_CLOCK", GPU, "Clock of the SMs in MHz."),
    Other(f"{_DEV}CLOCKS_EVENT_REASONS", GPU, "Bits that say why clocks are low."),
    Other(f"{_DEV}POWER_VIOLATION", GPU, "Time with lower clocks for the power limit, in ns."),
    Other(f"{_DEV}THERMAL_VIOLATION", GPU, "Time with lower clocks for heat, in ns."),
    Other(f"{_DEV}XID_ERRORS", GPU, "The last Xid; it stays.", f"{_DEV}XID_ERROR"),
    Other(f"{_DEV}PCIE_REPLAY_COUNTER", GPU, "Retries on PCIe.", f"{_DEV}PCIE_REPLAY_TOTAL"),
    Other(f"{_DEV}ECC_SBE_VOL_TOTAL", GPU, "Corrected memory errors."),
    Other(f"{_DEV}ECC_DBE_VOL_TOTAL", GPU, "Uncorrected memory errors."),
    Other(f"{_DEV}ROW_REMAP_FAILURE", GPU, "1 if a bad row has no spare row.", f"{_DEV}ROW_REMAP_FAILED"),
)
_AMD = (
    Other("gpu_gfx_activity", GPU, "Part of the time in which it computes, in percent."),
    Other("gpu_prof_sm_active", GPU, "Part of the time with vector instructions, in percent."),
    Other("gpu_prof_occupancy_percent", GPU, "Waves on compute units, of as many as fit, in percent."),
    Other("gpu_prof_tensor_active_percent", GPU, "Part of the time with matrix cores, in percent."),
    Other("gpu_used_vram", GPU, "Used memory in MiB."),
    Other("gpu_total_vram", GPU, "Memory in MiB."),
    Other("gpu_package_power", GPU, "Power in watts (MI300 and later)."),
    Other("gpu_average_package_power", GPU, "Power in watts (MI200).", instead=True),
    Other("gpu_junction_temperature", GPU, "Temperature in Celsius (MI300 and later)."),
    Other("gpu_edge_temperature", GPU, "Temperature in Celsius (MI200).", instead=True),
    Other("gpu_health", GPU, "1 if the GPU is healthy."),
    Other("gpu_ecc_uncorrect_total", GPU, "Uncorrected memory errors."),
    Other("rdma_tx_cnp_pkts", RAIL, "CNPs that the port sent."),
    Other("rdma_rx_cnp_pkts", RAIL, "CNPs that the port received."),
    Other("rdma_rx_ecn_pkts", RAIL, "Packets that came marked (ECN)."),
    Other("rdma_req_rx_pkt_seq_err", RAIL, "Negative answers, after which the port sends again."),
    Other("rdma_req_rx_impl_nak_seq_err", RAIL, "Answers with a gap, after which the port sends again."),
    Other("eth_octets_rx_ok", RAIL, "Bytes received."),
    Other("eth_octets_tx_ok", RAIL, "Bytes sent."),
    Other("eth_frames_rx_pripause", RAIL, "Pause frames received, of all priorities."),
    Other("eth_frames_tx_pripause", RAIL, "Pause frames sent, of all priorities."),
)
_SLURM = (
    *(
        Other(f"slurm_nodes_{state}", SITE, f"Nodes that are {state}.")
        for state in ("alloc", "mixed", "idle", "draining", "drained", "down")
    ),
    Other("slurm_partition_jobs_pending", PARTITION, "Jobs that wait."),
    Other("slurm_partition_jobs_running", PARTITION, "Jobs that run."),
    Other("slurm_sdiag_jobs_started", SITE, "Started jobs since midnight."),
    Other("slurm_backfilled_jobs", SITE, "Of these, by backfill."),
    Other("slurm_bf_cycle_last", SITE, "Last cycle of backfill in microseconds."),
    Other("slurm_schedule_cycle_last", SITE, "Last cycle of the scheduler in microseconds."),
    Other("slurm_server_thread_cnt", SITE, "Threads that answer requests."),
    Other("slurm_agent_queue_size", SITE, "Requests to nodes that wait."),
    Other("slurm_slurmdbd_queue_size", SITE, "Messages that wait for slurmdbd."),
    Other("slurm_node_gpus", NODE, "GPUs of the node."),
    Other("slurm_node_gpus_alloc", NODE, "GPUs that jobs have."),
)
NODE_EXPORTER, DCGM, AMD, OPENMETRICS = "node_exporter", "nvidia", "amd", "openmetrics"
EXPORTERS: Mapping[str, Exporter] = {
    NODE_EXPORTER: Exporter(
        "node_exporter 1.11 or later",
        "node_exporter 1.12.1: collector/infiniband_linux.go, ethtool_linux.go, netclass_linux.go, pcidevice_linux.go,"
        " mountstats_linux.go; counters of mlx5, ice, bnxt and ionic in Linux 6.12",
        _NODE_EXPORTER,
    ),
    DCGM: Exporter(
        "dcgm-exporter",
        "dcgm-exporter 4.5.3: etc/default-counters.csv; DCGM 4.6.0: dcgmlib/dcgm_fields.h, DcgmCacheManager.cpp",
        _DCGM,
    ),
    AMD: Exporter(
        "AMD Device Metrics Exporter",
        "device-metrics-exporter 1.5.2: pkg/amdgpu/gpuagent/gpuagent_gpu_metrics.go, pkg/amdnic/nicagent",
        _AMD,
    ),
    OPENMETRICS: Exporter(
        "slurmctld 25.11 or later (OpenMetrics)",
        "Slurm 26.05: src/plugins/metrics/openmetrics/openmetrics.c, src/slurmctld/http.c",
        _SLURM,
    ),
}
"""By the vendor of GPUs, or by name."""

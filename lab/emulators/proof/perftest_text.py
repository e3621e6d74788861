# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of perftest: heads, addresses, rows and files, with the white space of its formats.

From perftest_parameters.{c,h}, perftest_communication.{c,h} and the tools' own files at tag 25.01.0-0.80 of
linux-rdma/perftest, which is Debian's release.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINE = "-" * 87
WAITING = f"\n{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}"
NOT_ALLOWED = " Invalid Command or flag.\n Please check command line and run again.\n"
PARSER_FAILED = " Parser function exited with Error"
NO_DEVICES = " Did not detect devices \n If device exists, check if driver is up"
NOT_FOUND = " Unable to find the Infiniband/RoCE device"
NO_LINK = " Port number 1 state is Down\n Couldn't set the link layer\n Couldn't get context for the device"
NO_SOCKET = " Unable to init the socket connection"
NO_ROUTE = "Failed to modify QP {} to RTR\n Unable to Connect the HCA's through the link"
LOST = (
    " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt={depth}, ccnt=0\n"
    " Failed to complete {run} function successfully"
)
BELOW = "Error: BW result is below bw limit"
NO_GPU_MEMORY = " Unsupported memory type"
FIRST_QP = 0x1A4
MIB_S = 1e9 / 8 / 2**20
"""MiB/s in 1 Gb/s."""


class Kind(NamedTuple):
    """A tool: its title, its name in the file, and how it measures."""

    title: str
    name: str
    latency: bool
    reads: bool


KINDS = {
    "ib_write_bw": Kind("RDMA_Write BW Test", "RDMA_Write_BW_Test", latency=False, reads=False),
    "ib_write_lat": Kind("RDMA_Write Latency Test", "RDMA_Write_Latency_Test", latency=True, reads=False),
    "ib_read_lat": Kind("RDMA_Read Latency Test", "RDMA_Read_Latency_Test", latency=True, reads=True),
}
RATES = " #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
TIMES = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec] "
)


class Run(NamedTuple):
    """The settings on which both ends agreed."""

    kind: Kind
    device: str
    queues: int
    mtu: int
    gid_index: int
    server: bool
    gbits: bool


def head(run: Run) -> str:
    """Return the table's head: chosen and negotiated settings."""
    depth = [] if run.server else [f" TX depth        : {1 if run.kind.latency else 128}"]
    rate = [] if run.kind.latency else [" CQ Moderation   : 1"]
    inline = " Outstand reads  : 16" if run.kind.reads else f" Max inline data : {220 if run.kind.latency else 0}[B]"
    return "\n".join(
        [
            *(LINE, f"                    {run.kind.title}"),
            f" Dual-port       : OFF\t\tDevice         : {run.device}",
            f" Number of qps   : {run.queues}\t\tTransport type : IB",
            " Connection type : RC\t\tUsing SRQ      : OFF",
            " PCIe relax order: ON\t\tLock-free      : OFF",
            " ibv_wr* API     : ON\t\tUsing DDP      : OFF",
            *(*depth, *rate),
            f" Mtu             : {run.mtu}[B]",
            " Link type       : Ethernet",
            f" GID index       : {run.gid_index}",
            *(inline, " rdma_cm QPs\t : OFF", " Data ex. method : Ethernet", LINE),
        ]
    )


def addresses(run: Run, gid: str, side: str, seed: int) -> Iterable[str]:
    """Yield the lines of one side's queue pairs."""
    octets = bytes.fromhex(gid.replace(":", ""))
    for at in range(run.queues):
        reads = " OUT 0x10" if run.kind.reads else ""
        packet = (seed * 7919 + at * 104729) % 0xFFFFFF
        yield (
            f" {side} address: LID 0000 QPN {FIRST_QP + at:#06x} PSN {packet:#06x}{reads}"
            f" RKey {0x1820EE + at:#08x} VAddr {0x7F10C4400000 + at * 0x100000:#016x}"
        )
        yield f" GID: {':'.join(f'{octet:02d}' for octet in octets)}"


def columns(run: Run) -> str:
    """Return the line above the rows."""
    return TIMES if run.kind.latency else RATES.format(unit="Gb/sec" if run.gbits else "MiB/sec")


def rates(run: Run, gbps: float, size: int, seconds: float, *, peak: bool) -> dict[str, Any]:
    """Return the results of a bandwidth test as the file names them; a test by duration has no peak."""
    messages = gbps * 1e9 / 8 / size
    shown = gbps if run.gbits else gbps * MIB_S
    digits = 6 if run.gbits and gbps < 0.1 else 2
    return {
        "MsgSize": size,
        "n_iterations": int(messages * seconds),
        "BW_peak": f"{shown * 1.002 if peak else 0:.{digits}f}",
        "BW_average": f"{shown:.{digits}f}",
        "MsgRate": f"{messages / 1e6:.6f}",
    }


def times(us: float, size: int, iterations: int) -> dict[str, Any]:
    """Return the results of a latency test as the file names them."""
    factors = {"t_min": 0.97, "t_max": 7.3, "t_typical": 1.0, "t_avg": 1.01, "t_stdev": 0.04}
    factors |= {"percentile_99": 1.09, "percentile_99.9": 2.4}
    return {
        "MsgSize": size,
        "n_iterations": iterations,
        **{name: f"{us * factor:.2f}" for name, factor in factors.items()},
    }


def row(run: Run, found: dict[str, Any]) -> str:
    """Return the row of the table."""
    values = list(found.values())
    if run.kind.latency:
        size, iterations, least, most, middle, mean, spread, late, later = values
        return (
            f" {size:<7} {iterations}          {least:<7}        {most:<7}      {middle:<7}  \t       {mean:<7}     \t"
            f"{spread:<7}\t\t{late:<7} \t\t{later:<7}"
        )
    size, iterations, peak, mean, rate = values
    if len(mean.partition(".")[2]) == 6:
        return f" {size:<7}    {iterations}           {peak:<7}            {mean:<7}            {rate:<7}"
    return f" {size:<7}    {iterations:<10}       {peak:<7}            {mean:<7}\t\t     {rate:<7}"


def document(run: Run, found: dict[str, Any]) -> str:
    """Return the file of --out_json; it has no unit."""
    about: Sequence[tuple[str, object]] = [
        ("test", run.kind.name),
        *(("Dual_port", "OFF"), ("Device", run.device), ("Number_of_qps", run.queues), ("Transport_type", "IB")),
        *(("Connection_type", "RC"), ("Using_SRQ", "OFF"), ("PCIe_relax_order", "ON"), ("ibv_wr_API", "ON")),
        *([] if run.server else [("TX_depth", 1 if run.kind.latency else 128)]),
        *([] if run.kind.latency else [("CQ_Moderation", 1)]),
        *(("Mtu", run.mtu), ("Link_type", "Ethernet"), ("GID_index", run.gid_index)),
        ("Outstand_reads", 16) if run.kind.reads else ("Max_inline_data", 220 if run.kind.latency else 0),
        *(("rdma_cm_QPs", "OFF"), ("Use_ROCm_memory", "OFF"), ("Data_ex_method", "Ethernet")),
    ]
    first = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in about)
    last = ",\n".join(f'"{key}": {value}' for key, value in found.items())
    return f'{{\n"test_info": {{\n{first}\n}},\n"results": {{\n{last}\n}}\n}}\n'

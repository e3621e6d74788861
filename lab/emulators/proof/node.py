# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host as its measuring tools find it: rails with their settings and cables, GPUs, planted faults, counters.

State of the device `proof`: `rails` (by network device: percent, dead, pcie), `gpus` (by index: percent, pcie,
links_down), `missing` (indices), `nvls` (false: off), `memory_percent`. All of these are planted. `seed` and `runs`
belong to the noise.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common import host_device, sysfs
from ..nic import ethtool
from ..nic.driver import NetlinkError, port_of
from ..nodes import lldpctl, nvidia_smi
from . import physics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..common import Device

NOISE = 0.01
"""Largest deviation of a measure, as a share."""
GID = "0000:0000:0000:0000:0000:0000:0000:0000"


def device() -> Device:
    """Return the device of all measuring tools of this host."""
    return host_device("proof")


def planted() -> dict[str, Any]:
    """Return a copy of the planted faults."""
    with device().state() as state:
        return json.loads(json.dumps(state))


def noisy(value: float, *what: object) -> float:
    """Return a value with the noise of a measurement: the next one of a sequence that `seed` and `what` begin."""
    key = " ".join(map(str, what))
    with device().state() as state:
        runs = state.setdefault("runs", {})
        runs[key] = runs.get(key, 0) + 1
        chosen = random.Random(f"{state.get('seed', 0)} {hostname()} {key} {runs[key]}")
    return value * (1 + NOISE * chosen.uniform(-1, 1))


def hostname() -> str:
    """Return the host's name."""
    return os.environ.get("LAB_HOSTNAME") or os.uname().nodename


def rdma_devices() -> dict[str, str]:
    """Return the network device of each RDMA device."""
    found = {}
    for path in sorted((sysfs() / "class/infiniband").glob("*/device/net/*")):
        found.setdefault(path.parents[2].name, path.name)
    return found


def gid(rdma: str, index: int) -> str:
    """Return a GID, or one that is all 0 if the device has none with this index."""
    try:
        return (sysfs() / f"class/infiniband/{rdma}/ports/1/gids/{index}").read_text().strip()
    except OSError:
        return GID


def end(rdma: str, rail: str, gid_index: int, dscp: int) -> physics.End:
    """Return a rail as one end of a flow."""
    own = planted().get("rails", {}).get(rail, {})
    cables = lldpctl.plugged(host_device("lldpctl"))
    switch, port = cables.get(rail) or ("", "")
    priority, lossless = _class(rail, dscp)
    return physics.End(
        *(hostname(), rail, switch, port),
        up=_text(rail, "operstate") in ("up", "unknown"),
        mtu=int(_text(rail, "mtu") or 1500),
        gid=gid(rdma, gid_index) != GID,
        priority=priority,
        lossless=lossless,
        percent=own.get("percent", 100),
        pcie=tuple(own.get("pcie", (5, 16))),
        dead=own.get("dead", False),
    )


def rails(dscp: int, gid_index: int = 3, chosen: str = "") -> list[physics.End]:
    """Return the rails for GPUs that NCCL_IB_HCA chooses: starts of names, or with `=` whole ones; empty: all."""
    names = tuple(name for name in chosen.lstrip("=").split(",") if name)
    every = sorted(rdma_devices().items(), key=lambda item: (len(item[1]), item[1]))
    return [
        end(rdma, name, gid_index, dscp) for rdma, name in every if name[:4] == "rail" and _chosen(rdma, chosen, names)
    ]


def _chosen(rdma: str, chosen: str, names: tuple[str, ...]) -> bool:
    return not names or (rdma in names if chosen.startswith("=") else rdma.startswith(names))


def _class(rail: str, dscp: int) -> tuple[int, bool]:
    """Return the priority of packets with a DSCP, and whether it is lossless; without trust in DSCP it is 0."""
    with host_device("mlnx_qos").state({"version": "25.7", "ports": {}}) as state:
        try:
            port = port_of(state, rail)
        except NetlinkError:
            return 0, False
        priority = port["dscp2prio"][dscp] if port["apps"] else 0
        return priority, bool(port["pfc"][priority])


def _text(rail: str, name: str) -> str:
    try:
        return (sysfs() / "class/net" / rail / name).read_text().strip()
    except OSError:
        return ""


def gpus() -> list[int]:
    """Return the indices of the GPUs that the driver shows."""
    return nvidia_smi.indices()


def count_sent(found: physics.Outcome, sender: physics.End, rdma: str, seconds: float) -> None:
    """Add to the counters of the sending port."""
    packets, priority = int(found.packets * seconds), f"prio{sender.priority}"
    sent = {f"tx_{priority}_packets": packets, f"tx_{priority}_bytes": packets * found.mtu}
    ethtool.count(sender.rail, {**sent, f"rx_{priority}_pause": int(found.paused * seconds)})
    lost = int(found.dropped * seconds)
    _count(rdma, {"rp_cnp_handled": int(found.marked * seconds) // 2, "packet_seq_err": lost})


def count_received(found: physics.Outcome, receiver: physics.End, rdma: str, seconds: float) -> None:
    """Add to the counters of the receiving port."""
    packets, priority = int(found.packets * seconds), f"prio{receiver.priority}"
    ethtool.count(receiver.rail, {f"rx_{priority}_packets": packets, f"rx_{priority}_bytes": packets * found.mtu})
    marked = int(found.marked * seconds)
    ecn = {"np_ecn_marked_roce_packets": marked, "np_cnp_sent": marked // 2}
    _count(rdma, {**ecn, "out_of_sequence": int(found.dropped * seconds)})


def _count(rdma: str, seen: Mapping[str, int]) -> None:
    """Add to the hardware counters in sysfs, which belong to root alone."""
    for name, number in seen.items():
        path = Path(sysfs() / f"class/infiniband/{rdma}/ports/1/hw_counters/{name}")
        with contextlib.suppress(OSError):
            path.write_text(f"{int(path.read_text()) + number}\n")

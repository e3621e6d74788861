# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The two tools that read and set a port's QoS: NVIDIA's mlnx_qos, and dcb of iproute2 for all other drivers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Callable, Protocol

from ..core.command import Run, tool
from ..core.converge import DeviceError
from . import dcb_text
from .plan import NicPortQos
from .queues import PRIORITIES
from .text import UnreadableReport, parse

ROOT = ""
"""A prefix of sysfs, for tests."""
ICE, BNXT, MLX5 = "ice", "bnxt_en", "mlx5_core"
"""The drivers of Intel's E810, Broadcom's Thor 2 and NVIDIA's ConnectX."""
NO_BUFFERS = "'KeyError' object has no attribute 'errno'"
"""mlnx_qos 25.07 and later end so where a driver has no DCB buffers."""
LLDPAD = "lldpad runs on the host and would overwrite the QoS; stop and disable lldpad"


class Unsupported(DeviceError):
    """The tool can't manage this port."""


class Backend(Protocol):
    """Reads and writes one port."""

    def read(self, interface: str, want: NicPortQos, up: bool) -> NicPortQos:
        """The part of the port that `want` has values for. Raises DeviceError, Unsupported if another tool may do."""
        raise NotImplementedError

    def write(self, interface: str, options: Sequence[str], want: NicPortQos) -> None:
        """Make one change, given as options of mlnx_qos. Raises DeviceError."""
        raise NotImplementedError


class MlnxQos:
    """NVIDIA's tool."""

    def __init__(self, run: Run, program: str = "mlnx_qos") -> None:
        self._run, self._program = run, program

    def read(self, interface: str, want: NicPortQos, up: bool) -> NicPortQos:
        if driver(interface) == ICE:
            raise Unsupported(f"{interface}: mlnx_qos does not fit its driver, ice; install iproute2's dcb")
        done = self._run([self._program, "-i", interface], ok=(0, 1))
        if "not supported on your system" in done.out and done.rc:
            raise _without_dcb(interface, done.out)
        try:
            return parse(done.out, want, up)
        except UnreadableReport as err:
            kind = Unsupported if NO_BUFFERS in done.err else DeviceError
            raise kind(f"{interface}: {err}", rc=done.rc, stdout=done.out, stderr=done.err) from err

    def write(self, interface: str, options: Sequence[str], want: NicPortQos) -> None:
        del want
        self._run([self._program, "-i", interface, *options])


class Dcb:
    """The kernel's own tool."""

    def __init__(self, run: Run, program: str = "dcb") -> None:
        self._run, self._program = run, program

    def read(self, interface: str, want: NicPortQos, up: bool) -> NicPortQos:
        pfc, app, dcbx = (self._shown(what, interface) for what in ("pfc", "app", "dcbx"))
        if "prio_pfc" not in pfc:
            raise _without_dcb(interface, "")
        if self._lldpad_runs:
            raise DeviceError(f"{interface}: {LLDPAD}")
        name = driver(interface)
        if name == ICE and 0 < int(pfc["pfc_cap"]) < len(PRIORITIES):
            raise _few_classes(interface, int(pfc["pfc_cap"]))
        ets = self._shown("ets", interface) if want.queues else {}
        port = dcb_text.parse(pfc, app, ets, dcbx, want, up)
        return replace(port, ice=name == ICE, bnxt=name == BNXT)

    def write(self, interface: str, options: Sequence[str], want: NicPortQos) -> None:
        if options[0] == "-d" and driver(interface) == ICE:  # it refuses `dcb dcbx set` while the agent runs
            self._run(["ethtool", "--set-priv-flags", interface, "fw-lldp-agent", "off"])
            return
        words = dcb_text.command(interface, options, want)
        if words[0] != "app":
            self._run([self._program, *words])
            return
        found = dcb_text.table(self._shown("app", interface))
        for verb, entries in dcb_text.changes(found, dcb_text.mapping(words[5:]), exchanges=driver(interface) == MLX5):
            self._run([self._program, "app", verb, "dev", interface, "dscp-prio", *entries])

    @cached_property
    def _lldpad_runs(self) -> bool:
        """One look for all ports of the host."""
        return bool(self._run(["pgrep", "-x", "lldpad"], ok=(0, 1)).out)

    def _shown(self, what: str, interface: str) -> dcb_text.Shown:
        """An object of the port; empty if the driver has none."""
        done = self._run([self._program, "-j", "-N", what, "show", "dev", interface], ok=(0, 1))
        try:
            return json.loads(done.out) if not done.rc else {}
        except ValueError as err:
            raise DeviceError(f"{interface}: dcb {what} printed no JSON", stdout=done.out) from err


BACKENDS = {"mlnx_qos": MlnxQos, "dcb": Dcb}
"""By tool, the first choice first: mlnx_qos also sizes buffers."""


def backends(run: Run, find: Callable[[str], str] = tool) -> dict[str, Backend]:
    """The tools of this host. `find` raises DeviceError for a program that is not installed."""
    found: dict[str, Backend] = {}
    for name, made in BACKENDS.items():
        with contextlib.suppress(DeviceError):
            found[name] = made(run, find(name))
    return found


def read(backends: Mapping[str, Backend], interface: str, want: NicPortQos, up: bool = True) -> tuple[str, NicPortQos]:
    """A port by the first of the backends that can read it, and which one that was. Raises DeviceError."""
    unsupported: list[Unsupported] = []
    for name, backend in backends.items():
        try:
            return name, backend.read(interface, want, up)
        except Unsupported as err:
            unsupported.append(err)
    if not unsupported:
        raise DeviceError("this host has neither mlnx_qos nor dcb; install NVIDIA's drivers, or iproute2's dcb")
    raise unsupported[0]


def driver(interface: str) -> str:
    """The name of a port's driver; empty if sysfs has none."""
    try:
        return Path(f"{ROOT}/sys/class/net/{interface}/device/driver").readlink().name
    except OSError:
        return ""


def _few_classes(interface: str, classes: int) -> DeviceError:
    return DeviceError(
        f"interfaces has {interface}, which ice gives {classes} of {len(PRIORITIES)} classes and no RDMA;"
        " list RDMA ports only in nics.netdev of the node's class in drawbridge_nodes"
    )


def _without_dcb(interface: str, printed: str) -> Unsupported:
    return Unsupported(
        f"interfaces has {interface}, but its driver has no DCB;"
        " list RDMA ports only in nics.netdev of the node's class in drawbridge_nodes",
        stdout=printed,
    )

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's RDMA ports, through mlnx_qos or dcb, and ip."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from ..core.command import Run
from ..core.converge import DeviceError, Step
from .backends_io import Backend, read
from .naming import named
from .plan import NicPortQos, NicQos

LINK_BACK_S, LINK_CHECK_S = 30.0, 0.5
"""Time for a bounced link to come up again, and the interval of the checks."""


class NicPorts:
    """The ports of `want`. `backends` are the tools that may read and set them, the first choice first."""

    name = "RDMA ports"

    def __init__(self, run: Run, backends: Mapping[str, Backend], want: NicQos, ip: str = "ip") -> None:
        self._run, self._backends, self._want, self._ip = run, backends, want.ports, ip
        self.chosen: dict[str, str] = {}
        """The backend of each port, after a reading."""

    def read(self) -> NicQos:
        """Every port's QoS and link. Raises DeviceError for a port that does not exist or has no DCB."""
        links = self._links()
        if missing := [name for name in self._want if name not in links]:
            raise DeviceError(
                f"interfaces is {list(self._want)}, but this host has no {', '.join(missing)};"
                " correct nics.netdev of the node's class in drawbridge_nodes, or load the NIC's driver"
            )
        return NicQos({name: self._port(name, links[name]) for name in self._want})

    def apply(self, steps: Sequence[Step[NicQos]]) -> None:
        """One command a step. After a bounce it waits for the link, so that at most one rail is down."""
        for step in steps:
            name = step.payload.interface
            with named(step):
                self._backends[self.chosen[name]].write(name, step.payload.options, self._want[name])
            if step.payload.flaps:
                self._wait_for_link(name)

    def _wait_for_link(self, interface: str) -> None:
        deadline = time.monotonic() + LINK_BACK_S
        while True:
            time.sleep(LINK_CHECK_S)  # also before the first check: the link goes down a moment after the command
            if self._links().get(interface):
                return
            if time.monotonic() >= deadline:
                raise DeviceError(
                    f"the link of {interface} did not come back within {LINK_BACK_S:.0f} s of its PFC change;"
                    " check its cable and switch port, then run this again"
                )

    def _links(self) -> dict[str, bool]:
        """Which network devices are up."""
        listed = json.loads(self._run([self._ip, "-j", "link", "show"]).out)
        return {link["ifname"]: link.get("operstate") != "DOWN" for link in listed}

    def _port(self, interface: str, up: bool) -> NicPortQos:
        chosen = self.chosen.get(interface)
        found = {chosen: self._backends[chosen]} if chosen else self._backends
        self.chosen[interface], port = read(found, interface, self._want[interface], up)
        return port

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's RDMA ports, through mlnx_qos and ip."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ..converge import DeviceError, Step
from ..dialects.mlnx_qos import NicQos, PortQos, UnreadableReport, parse
from ..plans.qos import flapping
from .command import Run

CONSENT = "fabric_nic_may_flap_links: true"


class NicPorts:
    """All ports of a node. Tools are given by path; nothing is flapped without `may_flap_links`."""

    name = "RDMA ports"

    def __init__(
        self,
        run: Run,
        tools: dict[str, str],
        interfaces: Sequence[str],
        dscps: Iterable[int],
        may_flap_links: bool,
    ) -> None:
        self._run, self._tools = run, tools
        self._interfaces, self._dscps, self._may_flap_links = interfaces, tuple(dscps), may_flap_links

    def read(self) -> NicQos:
        """Every port's QoS and link. Raises DeviceError for a port that does not exist or has no DCB."""
        links = {link["ifname"]: link for link in json.loads(self._run([self._tools["ip"], "-j", "link", "show"]).out)}
        if missing := [name for name in self._interfaces if name not in links]:
            raise DeviceError(
                f"interfaces is {list(self._interfaces)}, but this host has no {', '.join(missing)};"
                " correct nics.netdev of the node's class in drawbridge_nodes, or load the NIC's driver"
            )
        return NicQos({name: self._port(name, links[name].get("operstate") != "DOWN") for name in self._interfaces})

    def apply(self, steps: Sequence[Step[NicQos]]) -> None:
        """One command a step, one port at a time. Refuses all of them when one would flap a link without consent."""
        flaps = flapping(list(steps))
        if flaps and not self._may_flap_links:
            raise DeviceError(
                f"may_flap_links is false, but a change of PFC bounces the link of {', '.join(flaps)};"
                f" drain this host's jobs and set {CONSENT}"
            )
        for step in steps:
            self._run([self._tools["mlnx_qos"], "-i", step.payload.interface, *step.payload.options])

    def _port(self, interface: str, up: bool) -> PortQos:
        done = self._run([self._tools["mlnx_qos"], "-i", interface], ok=(0, 1))
        if "not supported on your system" in done.out and done.rc:
            raise DeviceError(
                f"interfaces has {interface}, but its driver has no DCB;"
                " list RDMA ports only in nics.netdev of the node's class in drawbridge_nodes",
                stdout=done.out,
            )
        try:
            return parse(done.out, self._dscps, up)
        except UnreadableReport as err:
            raise DeviceError(f"{interface}: {err}", rc=done.rc, stdout=done.out, stderr=done.err) from err

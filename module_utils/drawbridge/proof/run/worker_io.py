# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The worker of a node: runs its checks and its ends of the fabric's tests, and prints what it found."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...core.converge import DeviceError
from ...nodes.gids import ipv4_gid
from ...nodes.gids_io import gids
from ..checks.collect import files, programs, results
from ..checks.table import CHECKS
from ..depends_io import depends
from ..measure import Found, Missing
from ..node import ProofNode
from ..passport_deliver_io import deliver
from ..tools.perftest_text import measures
from . import traffic
from .gate_io import Receiver, wait_for
from .incast_io import Counters
from .programs_io import Started, read_all, run
from .request import Answer, Request
from .traffic import Flow

PAUSE_S = 0.05
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INFINIBAND = Path("/sys/class/infiniband")
LISTENS = "0A"
"""State of a listening socket in /proc/net/tcp."""


def work(request: Request, name: str) -> Answer:
    """All that the request has for this node."""
    try:
        node = request.node(name)
    except KeyError:
        return Answer(name, error="the request does not name this node")
    with tempfile.TemporaryDirectory(prefix="drawbridge-proof-") as folder:
        try:
            found = checked(node, request.checks, Path(folder))
            if request.tests:
                found = {**found, **Traffic(request, node, Path(folder)).run()}
            if name in request.passports:
                deliver(*request.passports[name])
            return Answer(name, found, depends() if request.depends else {})
        except (OSError, DeviceError) as err:
            return Answer(name, error=f"{type(err).__name__}: {err}")


def checked(node: ProofNode, names: Sequence[str], scratch: Path) -> dict[str, list[Found]]:
    """Findings of these checks, one after the other: two would disturb each other."""
    wanted = [check for check in CHECKS if check.name in names]
    ran = [(program, run(program, scratch)) for program in programs(wanted, node)]
    texts = read_all(files(wanted, node))
    return {check.name: found for check, found in results(wanted, node, ran, texts)}


class Traffic:
    """This node's ends of the tests of one round."""

    def __init__(self, request: Request, node: ProofNode, scratch: Path) -> None:
        self.request, self.node, self.scratch = request, node, scratch
        every = traffic.flows(request.tests)
        self.coming = [it for it in every if it.receiver == node.name]
        self.going = [it for it in every if it.sender == node.name]
        self.found: dict[str, list[Found]] = {}

    def run(self) -> Mapping[str, list[Found]]:
        """Measure phase by phase. Raises OSError if the port at which senders wait is taken."""
        phases = [phase for phase in traffic.TOOLS if any(self._has(it, phase) for it in self.coming + self.going)]
        senders = {phase: {it.sender for it in self.coming if self._has(it, phase)} for phase in phases}
        gate = Receiver(traffic.GATE_PORT, senders)
        counters = Counters(self.node, self.request.tests)
        try:
            for phase in phases:
                self._phase(phase, gate)
        finally:
            gate.close()
        for number, some in counters.found().items():
            self._note(number, some)
        return self.found

    def _has(self, flow: Flow, phase: str) -> bool:
        return phase in traffic.phases(self.request.tests[flow.test], self.request.latency)

    def _phase(self, phase: str, gate: Receiver) -> None:
        coming = [it for it in self.coming if self._has(it, phase)]
        going = [it for it in self.going if self._has(it, phase)]
        servers = {flow: self._start(flow, flow.receiver_rail, phase) for flow in coming}
        self._listening([traffic.port(flow, phase) for flow in coming], list(servers.values()))
        gate.open(phase)
        hosts = sorted({flow.receiver for flow in going})
        until = time.monotonic() + self.request.wait_s
        with ThreadPoolExecutor(max(1, len(hosts) + 1)) as pool:
            late = pool.submit(gate.missing, phase, self.request.wait_s)
            went = dict(zip(hosts, pool.map(lambda host: self._may_begin(host, phase, until), hosts)))
            clients = {flow: self._start(flow, flow.sender_rail, phase) for flow in going if went[flow.receiver]}
            self._read(going, clients, phase)
            absent = late.result()
        end = time.monotonic() + traffic.limit_s(self.node, phase)
        for flow, server in servers.items():
            if flow.sender in absent:
                server.kill()
            server.wait(end)

    def _may_begin(self, host: str, phase: str, until: float) -> bool:
        return wait_for(self._address(host), traffic.GATE_PORT, phase, self.node.name, until)

    def _address(self, host: str) -> str:
        return self.request.addresses.get(host, host)

    def _start(self, flow: Flow, rail: int, phase: str) -> Started:
        gid = gid_of(self.node, rail)
        host = self._address(flow.receiver) if flow in self.going else ""
        end = "client" if host else "server"
        argv = traffic.command(self.node, rail, gid, phase, traffic.port(flow, phase), host)
        return Started(argv, self.scratch, f"{end}-{traffic.port(flow, phase)}-{flow.test}-{flow.sender}")

    def _read(self, going: Sequence[Flow], clients: Mapping[Flow, Started], phase: str) -> None:
        end = time.monotonic() + traffic.limit_s(self.node, phase)
        for flow in going:
            if flow in clients:
                output = clients[flow].wait(end)
                some = measures(output.stdout, output.stderr, output.code, flow.where, phase)
            else:
                some = [Missing(phase, flow.where, f"{flow.receiver} did not come to the test")]
            # one phase is enough to show the path MTU
            self._note(flow.test, [it for it in some if phase in (traffic.BANDWIDTH, it.name)])

    def _note(self, test: int, some: Sequence[Found]) -> None:
        self.found.setdefault(str(test), []).extend(some)

    def _listening(self, ports: Sequence[int], servers: Sequence[Started]) -> None:
        """Wait until all servers listen or have ended."""
        end = time.monotonic() + traffic.LISTEN_S
        while time.monotonic() < end and not all(server.ended for server in servers):
            if {*ports} <= set(_listening_ports()):
                return
            time.sleep(PAUSE_S)


def gid_of(node: ProofNode, rail: int, root: Path = INFINIBAND) -> int:
    """The intent's index, or that of the first RoCE v2 GID with an IPv4 address. Raises DeviceError without one."""
    if node.gid_index >= 0:
        return node.gid_index
    it = node.rails[rail]
    found = ipv4_gid(gids(root / it.rdma), it.netdev)
    if found is None:
        raise DeviceError(f"{it.rdma} has no RoCE v2 GID with an IPv4 address on {it.netdev}")
    return found


def _listening_ports() -> Iterator[int]:
    """TCP ports on which a process of this host listens."""
    for name in ("tcp", "tcp6"):
        path = Path(f"/proc/net/{name}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            words = line.split()
            if words[3] == LISTENS:
                yield int(words[1].rpartition(":")[2], 16)


def main(text: str) -> int:
    """Work, and print the answer."""
    os.environ["PATH"] = PATH
    name = os.environ.get("SLURMD_NODENAME", "")
    for line in work(Request.from_json(text), name).lines():
        print(line, flush=True)
    return 0

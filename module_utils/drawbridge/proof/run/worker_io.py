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
    """This node's ends of the tests of one round. Each test has its own threads: a lost node delays its tests alone."""

    def __init__(self, request: Request, node: ProofNode, scratch: Path, host: str = "") -> None:
        """`host` is the own address at which senders wait; empty for all."""
        self.request, self.node, self.scratch, self.host = request, node, scratch, host
        every = traffic.flows(request.tests)
        self.coming = [it for it in every if it.receiver == node.name]
        self.going = [it for it in every if it.sender == node.name]
        self.found: dict[str, list[Found]] = {}

    def run(self) -> Mapping[str, list[Found]]:
        """Measure all tests, each phase by phase. Raises OSError if the port at which senders wait is taken."""
        numbers = sorted({flow.test for flow in self.coming + self.going})
        senders = {
            _key(number, phase): {it.sender for it in self.coming if it.test == number}
            for number in numbers
            for phase in self._phases(number)
        }
        gate = Receiver(traffic.GATE_PORT, senders, self.host)
        counters = Counters(self.node, self.request.tests)
        try:
            with ThreadPoolExecutor(max(1, len(numbers))) as pool:
                list(pool.map(lambda number: self._test(number, gate), numbers))
        finally:
            gate.close()
        for number, some in counters.found().items():
            self._note(number, some)
        return self.found

    def _phases(self, number: int) -> Sequence[str]:
        return traffic.phases(self.request.tests[number], self.request.phases)

    def _test(self, number: int, gate: Receiver) -> None:
        gone: set[str] = set()
        for phase in self._phases(number):
            self._phase(number, phase, gate, gone)

    def _phase(self, number: int, phase: str, gate: Receiver, gone: set[str]) -> None:
        """One phase of a test. `gone` are nodes that did not come to an earlier one; those of this one are added."""
        key = _key(number, phase)
        servers: dict[Flow, Started] = {}
        for flow in self.coming:
            # without a GID there is no server, and its client says so
            if flow.test == number and flow.sender not in gone and not self._lacks(flow.receiver_rail):
                servers[flow] = self._start(flow, flow.receiver_rail, phase)
        self._listening({traffic.port(flow, phase): server for flow, server in servers.items()})
        gate.open(key, gone)
        hosts: dict[str, list[Flow]] = {}
        for flow in self.going:
            if flow.test == number:
                hosts.setdefault(flow.receiver, []).append(flow)
        # a receiver waits for wait_s until it lets the others begin
        until = time.monotonic() + self.request.wait_s + traffic.LISTEN_S
        with ThreadPoolExecutor(1 + len(hosts)) as pool:
            late = pool.submit(gate.missing, key, self.request.wait_s)
            sent = [
                pool.submit(self._send, some, phase, until if host not in gone else 0.0) for host, some in hosts.items()
            ]
            gone |= {host for host, it in zip(hosts, sent) if not it.result()} | late.result()
        end = time.monotonic() + traffic.limit_s(self.node, phase)
        for flow, server in servers.items():
            if flow.sender in gone:
                server.kill()
            server.wait(end)

    def _send(self, flows: Sequence[Flow], phase: str, until: float) -> bool:
        """Measure flows of one test to one receiver; False if it does not let them begin before `until`."""
        receiver, test = flows[0].receiver, flows[0].test
        came = wait_for(self._address(receiver), traffic.GATE_PORT, _key(test, phase), self.node.name, until)
        clients: dict[Flow, Started] = {}
        for flow in flows:
            if not came:
                self._note(test, [Missing(phase, flow.where, f"{receiver} did not come to the test")])
            elif why := self._lacks(flow.sender_rail):
                self._note(test, [Missing(phase, flow.where, why)])
            else:
                clients[flow] = self._start(flow, flow.sender_rail, phase)
        end = time.monotonic() + traffic.limit_s(self.node, phase)
        for flow, client in clients.items():
            output = client.wait(end)
            some = measures(output.stdout, output.stderr, output.code, flow.where, phase)
            # one phase is enough to show the path MTU
            self._note(test, [it for it in some if phase in (traffic.BANDWIDTH, it.name)])
        return came

    def _address(self, host: str) -> str:
        return self.request.addresses.get(host, host)

    def _lacks(self, rail: int) -> str:
        """Why no packets can leave this rail; empty if they can."""
        try:
            gid_of(self.node, rail)
        except DeviceError as err:
            return str(err)
        return ""

    def _start(self, flow: Flow, rail: int, phase: str) -> Started:
        gid = gid_of(self.node, rail)
        host = self._address(flow.receiver) if flow in self.going else ""
        end = "client" if host else "server"
        argv = traffic.command(self.node, rail, gid, phase, traffic.port(flow, phase), host)
        return Started(argv, self.scratch, f"{end}-{traffic.port(flow, phase)}-{flow.test}-{flow.sender}")

    def _note(self, test: int, some: Sequence[Found]) -> None:
        self.found.setdefault(str(test), []).extend(some)

    @staticmethod
    def _listening(servers: Mapping[int, Started]) -> None:
        """Wait until each server listens at its port or has ended."""
        end = time.monotonic() + traffic.LISTEN_S
        while time.monotonic() < end:
            ports = {*_listening_ports()}
            if all(port in ports or server.ended for port, server in servers.items()):
                return
            time.sleep(PAUSE_S)


def _key(test: int, phase: str) -> str:
    """What a sender waits for at a receiver."""
    return f"{test} {phase}"


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

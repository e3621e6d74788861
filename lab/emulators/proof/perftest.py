# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ib_write_bw, ib_write_lat and ib_read_lat of perftest: two processes that really talk over TCP, and send no packets.

Both ends tell each other what their rail is like. The client works out what the flow reaches, waits for the time of
-D, and tells the server. Like the real tools, a client whose packets vanish waits until it is killed, and a server ends
with 0 whatever its client found. A fault's effect `lie` is a full rate without any packets.
"""

from __future__ import annotations

import contextlib
import getopt
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..common import DIE, EFFECTS, LIE, REFUSE, Call, Killed, hang
from . import node, physics, traffic
from . import perftest_text as text

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = "d:x:Fs:q:D:n:p:w:VhI:"
LONG = {
    **{"ib-dev=": "-d", "gid-index=": "-x", "CPU-freq": "-F", "size=": "-s", "qp=": "-q", "duration=": "-D"},
    **{"iters=": "-n", "port=": "-p", "limit_bw=": "-w", "version": "-V", "help": "-h", "inline_size=": "-I"},
}
OWN = ("report_gbits", "tclass=", "out_json", "out_json_file=", "use_cuda=", "use_cuda_dmabuf", "use_rocm=")


class Failed(Exception):
    """Text on stderr; the exit code is 1."""


class Wanted(NamedTuple):
    """The command line."""

    kind: text.Kind
    device: str = ""
    gid_index: int = 3
    size: int = 65536
    queues: int = 1
    seconds: float = 0.0
    iterations: int = 5000
    port: int = 18515
    tclass: int = 0
    limit: float = 0.0
    gbits: bool = False
    file: str = ""
    host: str = ""

    @property
    def dscp(self) -> int:
        """DSCP of the packets."""
        return self.tclass >> 2


class Here(NamedTuple):
    """This end: its RDMA device, its rail, its GID."""

    rdma: str
    end: physics.End
    gid: str


def main(call: Call) -> int:
    """Run one end and return its exit code."""
    effect = call.fault(writes=False, among=EFFECTS)
    try:
        wanted = parse(call.tool, call.argv)
        here = _here(wanted, refused=effect == REFUSE)
        if wanted.host:
            _client(wanted, here, effect)
        else:
            _server(wanted, here, effect)
    except Failed as failure:
        _say(*failure.args, file=sys.stderr)
        call.rc = 1
    return call.rc or 0


def parse(tool: str, argv: list[str]) -> Wanted:
    """Read a command line. Raises Failed with what the tool prints."""
    kind = text.KINDS[tool]
    try:
        pairs, rest = getopt.gnu_getopt(argv, SHORT, [*LONG, *OWN])
    except getopt.GetoptError as error:
        dashes = "--" if len(error.opt) > 1 else "-- "
        what = (
            f"unrecognized option '{dashes}{error.opt}'" if len(error.opt) > 1 else f"invalid option -- '{error.opt}'"
        )
        _say(f"Usage:\n  {tool}            start a server and wait for connection")
        raise Failed(f"{tool}: {what}\n{text.NOT_ALLOWED}{text.PARSER_FAILED}") from None
    names = {f"--{name.rstrip('=')}": short for name, short in LONG.items()}
    said = {names.get(name, name): value for name, value in pairs}
    if "-V" in said:
        _say("Version: 6.24")
        raise Failed
    if {"--use_cuda", "--use_cuda_dmabuf", "--use_rocm"} & said.keys():
        raise Failed(text.NO_GPU_MEMORY)
    default = Wanted(kind, size=2, iterations=1000) if kind.latency else Wanted(kind)
    return default._replace(
        device=said.get("-d", ""),
        gid_index=int(said.get("-x", default.gid_index)),
        size=int(said.get("-s", default.size)),
        queues=int(said.get("-q", default.queues)),
        seconds=float(said.get("-D", 0)),
        iterations=int(said.get("-n", default.iterations)),
        port=int(said.get("-p", default.port)),
        tclass=int(said.get("--tclass", 0)),
        limit=float(said.get("-w", 0)),
        gbits="--report_gbits" in said,
        file=said.get("--out_json_file", "perftest_out.json") if "--out_json" in said else "",
        host=rest[0] if rest else "",
    )


def _here(wanted: Wanted, *, refused: bool) -> Here:
    devices = node.rdma_devices()
    if not devices or refused:
        raise Failed(f"{text.NO_DEVICES}\n{text.NOT_FOUND}")
    rdma = wanted.device or min(devices)
    if rdma not in devices:
        raise Failed(f"IB device {rdma} not found\n{text.NOT_FOUND}")
    end = node.end(rdma, devices[rdma], wanted.gid_index, wanted.dscp)
    if not physics.has_link(end, traffic.switches()):
        raise Failed(text.NO_LINK)
    return Here(rdma, end, node.gid(rdma, wanted.gid_index))


class Peer:
    """The other end, as lines of JSON over TCP."""

    def __init__(self, connection: socket.socket) -> None:
        """Take a connection."""
        self._lines = connection.makefile("rw")

    def send(self, **fields: Any) -> None:
        """Send a message; a peer that has gone does not matter."""
        with contextlib.suppress(OSError):
            self._lines.write(json.dumps(fields) + "\n")
            self._lines.flush()

    def receive(self) -> dict[str, Any]:
        """Return the peer's message; empty once it has gone."""
        try:
            line = self._lines.readline()
            return json.loads(line) if line else {}
        except (OSError, ValueError):
            return {}


def _end(fields: dict[str, Any]) -> physics.End:
    return physics.End(**{**fields, "pcie": tuple(fields["pcie"])})


def _server(wanted: Wanted, here: Here, effect: str | None) -> None:
    name = f"{here.end.host}-{os.getpid()}-{wanted.port}"
    with traffic.listening(name, here.end, counts=not wanted.kind.latency), _accepted(wanted.port) as connection:
        peer = Peer(connection)
        hello = peer.receive()
        if not hello:
            return
        peer.send(end=here.end._asdict(), gid=here.gid, flow=name)
        plan = peer.receive()
        if not plan:
            return
        run = text.Run(wanted.kind, here.rdma, wanted.queues, plan["mtu"], wanted.gid_index, True, wanted.gbits)
        _introduce(run, plan["failure"], here.gid, hello["gid"])
        if effect == DIE:
            raise Killed
        report = peer.receive()
        if report and not wanted.kind.reads:
            _conclude(wanted, run, report["found"])
        if report:
            found = physics.Outcome(**{**report["outcome"], "congested": ()})
            node.count_received(found, here.end, here.rdma, report["seconds"])


@contextlib.contextmanager
def _accepted(port: int) -> Iterator[socket.socket]:
    """Wait for the one client."""
    with socket.socket(socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if listener.family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        try:
            listener.bind(("", port))
        except OSError:
            raise Failed(f" Unable to bind\n{text.NO_SOCKET}") from None
        listener.listen(1)
        _say(text.WAITING)
        connection, _address = listener.accept()
        with connection:
            yield connection


def _client(wanted: Wanted, here: Here, effect: str | None) -> None:
    try:
        connection = socket.create_connection((wanted.host, wanted.port))
    except socket.gaierror as error:
        raise Failed(f"{error.strerror} for {wanted.host}:{wanted.port}\n{text.NO_SOCKET}") from None
    except OSError:
        raise Failed(f"Couldn't connect to {wanted.host}:{wanted.port}\n{text.NO_SOCKET}") from None
    with connection:
        peer = Peer(connection)
        peer.send(end=here.end._asdict(), gid=here.gid)
        hello = peer.receive()
        if not hello:
            raise Failed(" Failed to exchange data between server and clients")
        flow, there, running, slow = hello["flow"], _end(hello["end"]), traffic.switches(), traffic.slow()
        links = [link.name for link in physics.links(here.end, there, running, slow)]
        traffic.connect(flow, links)
        plan = physics.outcome(here.end, there, running, wanted.dscp, wanted.size, physics.counted([links]), slow)
        if effect == LIE:
            plan = physics.Outcome(gbps=physics.PORT_GBPS, mtu=4096, us=physics.FIRST_US)
        run = text.Run(wanted.kind, here.rdma, wanted.queues, plan.mtu, wanted.gid_index, False, wanted.gbits)
        peer.send(failure=plan.failure, mtu=plan.mtu)
        _introduce(run, plan.failure, here.gid, hello["gid"])
        if plan.failure == physics.HANG:
            hang()
        if plan.failure:
            step = "run_iter_lat_write" if wanted.kind.latency else "run_iter_bw"
            raise Failed(text.LOST.format(depth=wanted.queues * 128, run=step))
        if effect == DIE:
            raise Killed
        time.sleep(wanted.seconds)
        counts = traffic.met(flow, links)
        found = physics.outcome(here.end, there, running, wanted.dscp, wanted.size, counts, slow)
        _measured(wanted, run, here, there, peer, plan if effect == LIE else found)


def _measured(
    wanted: Wanted, run: text.Run, here: Here, there: physics.End, peer: Peer, found: physics.Outcome
) -> None:
    """Tell what the flow reached, with the noise of a measurement, and count its packets."""
    seconds = wanted.seconds or 0.01
    key = (wanted.kind.name, here.end.rail, there.name)
    if wanted.kind.latency:
        us = node.noisy(found.us * (physics.READ if wanted.kind.reads else 1), *key)
        shown = text.times(us, wanted.size, wanted.iterations)
        found = found._replace(packets=0, marked=0, paused=0, dropped=0)
    else:
        found = found._replace(gbps=node.noisy(found.gbps, *key))
        shown = text.rates(run, found.gbps, wanted.size, seconds, peak=not wanted.seconds)
        if not wanted.seconds:
            shown["n_iterations"] = wanted.iterations
    peer.send(found=shown, outcome=found._asdict(), seconds=seconds)
    _conclude(wanted, run, shown)
    node.count_sent(found, here.end, here.rdma, seconds)
    traffic.count(found, here.end, seconds, traffic.switches())
    if wanted.limit and not wanted.kind.latency and float(shown["BW_average"]) < wanted.limit:
        raise Failed(text.BELOW)


def _introduce(run: text.Run, failure: str, mine: str, theirs: str) -> None:
    """Print all that comes before the measurement. Raises Failed if there is no way to the peer."""
    _say(text.head(run))
    if failure in (physics.NO_ROUTE, physics.DOWN):
        raise Failed(text.NO_ROUTE.format(text.FIRST_QP))
    _say(*text.addresses(run, mine, "local", 1 + run.server), *text.addresses(run, theirs, "remote", 2 - run.server))
    _say(text.LINE)
    if not (run.kind.reads and run.server):
        _say(text.columns(run))


def _conclude(wanted: Wanted, run: text.Run, found: dict[str, Any]) -> None:
    if wanted.file:
        handle = os.open(Path(wanted.file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text.document(run, found))
    _say(text.row(run, found), text.LINE)


def _say(*lines: str, file: Any = None) -> None:
    print(*lines, sep="\n", end="\n" if lines else "", file=file, flush=True)

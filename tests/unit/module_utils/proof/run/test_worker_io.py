# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Workers of a few nodes as threads: each has an address of its own, and perftest is a stub that talks over TCP."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    STATE,
    Check,
    Program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import traffic, worker_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.gate_io import Receiver
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import Request, answers
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.worker_io import (
    Traffic,
    gid_of,
    main,
    work,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

from tests.unit.module_utils.proof.transcripts import printed
from tests.unit.processes import LIMITS_S
from tests.waiting import until

STUB = """\
#!{python} -IS
import socket, sys, time
from pathlib import Path
argv = sys.argv[1:]
device, at, here = argv[argv.index("-d") + 1], argv.index("-p") + 1, Path(__file__)
port, host = int(argv[at]), argv[at + 1 :]
fault = here.with_name(device).read_text() if here.with_name(device).exists() else ""
with here.with_name("calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if host:
    if fault == "hangs":
        time.sleep(600)
    try:
        peer = socket.create_connection((host[0], port))
    except OSError:
        sys.exit(f"Couldn't connect to {{host[0]}}:{{port}}")
    print(here.with_name("write_bw" if here.name == "ib_write_bw" else "write_lat").read_text())
elif fault == "ends":
    sys.exit(" Did not detect devices")
elif fault == "hangs":
    time.sleep(600)
else:
    socket.create_server(("", port)).accept()[0].recv(1)
"""
NAMES = ("a", "b", "c")
PATH, PAIR, CROSSING, INCAST = sites.PATH, sites.PAIR, sites.CROSSING, sites.INCAST
BUILD = ProofNode(
    *("", "big", tuple(ProofRail(f"r{rail}", f"m{rail}", 400) for rail in range(3))), gid_index=3, seconds=1
)
RATE, LATENCY_US = 391.43, 2.7


class Site:
    """The nodes' addresses, and the folder of the stub. A file with the name of a device has its fault."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for tool in traffic.TOOLS.values():
            (root / tool).write_text(STUB.format(python=sys.executable))
            (root / tool).chmod(0o755)
        for name in ("write_bw", "write_lat"):
            (root / name).write_text(printed(name))

    def request(self, *tests: sites.Test, latency: bool = False, wait_s: float = 60.0, **more: Any) -> Request:
        addresses = {name: f"127.0.0.{at}" for at, name in enumerate(NAMES, 11)}
        build = more.pop("build", BUILD)
        phases = tuple(traffic.TOOLS) if latency else (traffic.BANDWIDTH,)
        return Request({"big": build}, {"big": "a,b,c"}, (), tests, phases, addresses, wait_s, **more)

    def measure(self, request: Request, names: Sequence[str] = NAMES) -> dict[str, dict[str, str | float]]:
        """Run the nodes' workers; values, or why there are none, by phase and flow."""

        def worker(name: str) -> Mapping[str, Sequence[Found]]:
            scratch = self.root / f"scratch-{name}"
            scratch.mkdir(exist_ok=True)
            return Traffic(request, request.node(name), scratch, request.addresses[name]).run()

        with ThreadPoolExecutor(len(names)) as pool:
            every = [it for found in pool.map(worker, names) for some in found.values() for it in some]
        found: dict[str, dict[str, str | float]] = {}
        for it in every:
            assert it.where not in found.setdefault(it.name, {})
            found[it.name][it.where] = it.value if isinstance(it, Measure) else it.why
        return found

    def calls(self) -> list[list[str]]:
        return [line.split() for line in (self.root / "calls").read_text().splitlines()]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    # ports are the product's own: one test at a time uses them
    with Path(__file__).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield Site(tmp_path)


def flow(sender: str, receiver: str, rail: int = 0, to_rail: int | None = None) -> str:
    return f"{sender} rail{rail} -> {receiver} rail{rail if to_rail is None else to_rail}"


def test_both_nodes_measure_their_flows_phase_by_phase(site: Site) -> None:
    found = site.measure(site.request(sites.Test(CROSSING, ("a", "b"), (0, 1)), latency=True), ("a", "b"))
    both = [flow("a", "b", 0, 1), flow("b", "a", 1, 0)]
    assert found == {
        traffic.BANDWIDTH: dict.fromkeys(both, pytest.approx(RATE)),
        traffic.PATH_MTU: dict.fromkeys(both, 4096),
        traffic.LATENCY: dict.fromkeys(both, pytest.approx(LATENCY_US)),
        traffic.READ_LATENCY: dict.fromkeys(both, pytest.approx(LATENCY_US)),
    }
    # -D is an option of bandwidths: no latency begins before all of them have begun
    assert ["-D" in argv for argv in site.calls()] == [True] * 4 + [False] * 8


def test_many_senders_measure_to_one_receiver(site: Site) -> None:
    found = site.measure(site.request(sites.Test(INCAST, ("a", "b", "c"), (0, 2)), latency=True))
    assert found[traffic.BANDWIDTH].keys() == {flow(it, "a", rail) for it in "bc" for rail in (0, 2)}
    assert traffic.LATENCY not in found
    assert found["dropped packets"].keys() == {f"{name} rail{rail}" for name in NAMES for rail in (0, 2)}


class Patient(Receiver):
    """Waits for b as long as it takes, and for others as short as it may."""

    def missing(self, key: str, wait_s: float) -> set[str]:
        until(lambda: "b" not in self._wanted[key] or "b" in self._waiting[key], wait_s, "b came")
        return super().missing(key, 0.1)


def test_a_missing_sender_holds_no_other_one_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_io, "Receiver", Patient)
    tests = sites.Test(INCAST, ("a", "b", "c"), (0,)), sites.Test(PATH, ("a", "b"), (1,))
    found = site.measure(site.request(*tests), ("a", "b"))
    assert found[traffic.BANDWIDTH] == dict.fromkeys([flow("b", "a"), flow("a", "b", 1)], pytest.approx(RATE))


def test_a_missing_receiver_is_named_in_each_phase_and_other_tests_go_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_io, "wait_for", waited := Waits())
    tests = sites.Test(PATH, ("a", "c"), (0,)), sites.Test(PATH, ("a", "b"), (1,))
    found = site.measure(site.request(*tests, latency=True), ("a", "b"))
    for phase in traffic.TOOLS:
        assert found[phase][flow("a", "c")] == "c did not come to the test"
        assert isinstance(found[phase][flow("a", "b", 1)], float)
    assert waited.long == 1, "a node that is missing once is not waited for again"


class Waits:
    """As wait_for, without the time for a node that never comes."""

    def __init__(self) -> None:
        self.long = 0

    def __call__(self, host: str, port: int, key: str, name: str, until: float) -> bool:
        absent = host == "127.0.0.13"
        self.long += absent and until > 0
        return not absent and WAIT_FOR(host, port, key, name, until)


WAIT_FOR = worker_io.wait_for


@pytest.fixture
def one_way(monkeypatch: pytest.MonkeyPatch) -> tuple[sites.Test, str]:
    """A test with one flow, whose two ends have different devices: m1 sends, m0 receives."""
    test = sites.Test(CROSSING, ("a", "b"), (1, 0))
    only = [it for it in traffic.flows([test]) if it.receiver_rail == 0]
    monkeypatch.setattr(traffic, "flows", lambda _tests: only)
    return test, only[0].where


def test_a_server_that_never_listens_is_ended_and_its_client_says_so(
    site: Site, one_way: tuple[sites.Test, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.root / "m0").write_text("hangs")
    monkeypatch.setattr(traffic, "LISTEN_S", 0.5)
    test, where = one_way
    why = ""
    for limit_s in LIMITS_S:
        monkeypatch.setattr(traffic, "START_S", limit_s)
        why = str(site.measure(site.request(test), ("a", "b"))[traffic.BANDWIDTH][where])
        if "the server does not listen" in why:
            break
    assert "the server does not listen" in why
    assert processes(site.root) == []


def test_a_client_that_hangs_is_ended(
    site: Site, one_way: tuple[sites.Test, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.root / "m1").write_text("hangs")
    monkeypatch.setattr(traffic, "START_S", 0.0)
    test, where = one_way
    assert "time" in str(site.measure(site.request(test), ("a", "b"))[traffic.BANDWIDTH][where])
    assert processes(site.root) == []


def processes(root: Path) -> list[str]:
    """Command lines with this folder."""
    found = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return [line.decode(errors="replace") for line in found if str(root).encode() in line and b"ib_" in line]


def test_a_server_that_ends_early_holds_no_other_one_up(site: Site) -> None:
    (site.root / "m0").write_text("ends")
    found = site.measure(site.request(sites.Test(PATH, ("a", "b"), (0, 1))), ("a", "b"))
    assert "the server does not listen" in str(found[traffic.BANDWIDTH][flow("a", "b")])
    assert found[traffic.BANDWIDTH][flow("a", "b", 1)] == pytest.approx(RATE)


@pytest.fixture
def no_gid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rail 0 of node a has none."""

    def gid(node: ProofNode, rail: int) -> int:
        if (node.name, rail) == ("a", 0):
            raise DeviceError("m0 has no GID")
        return 3

    monkeypatch.setattr(worker_io, "gid_of", gid)


@pytest.mark.usefixtures("no_gid")
def test_a_rail_without_a_gid_fails_alone(site: Site) -> None:
    tests = sites.Test(PATH, ("b", "a"), (0,)), sites.Test(PATH, ("a", "b"), (1,))
    found = site.measure(site.request(*tests), ("a", "b"))[traffic.BANDWIDTH]
    assert found[flow("a", "b", 1)] == pytest.approx(RATE)
    assert "the server does not listen" in str(found[flow("b", "a")])


@pytest.mark.usefixtures("no_gid")
def test_a_rail_without_a_gid_sends_nothing_and_says_why(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "START_S", 0.0)
    found = site.measure(site.request(sites.Test(PATH, ("a", "b"), (0,))), ("a", "b"))
    assert found == {traffic.BANDWIDTH: {flow("a", "b"): "m0 has no GID"}}


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[Program]], None]:
    """A check whose finding is the output of its programs."""

    def make(programs: Sequence[Program]) -> None:
        def found(_node: ProofNode, outputs: Any, _texts: Any) -> list[Found]:
            return [Missing("it", "a", f"{it.stdout.strip()} {it.code}") for it in outputs]

        rows = [Check(name, STATE, "", "", lambda _: True, found, lambda _: programs) for name in ("wanted", "other")]
        monkeypatch.setattr(worker_io, "CHECKS", rows)

    return make


def test_wanted_checks_answer(row: Callable[[Sequence[Program]], None], tmp_path: Path) -> None:
    row([Program(("echo", "seen"), 300.0), Program(("/none",), 300.0)])
    request = replace(Site(tmp_path).request(), checks=("wanted",))
    answer = work(request, "a")
    assert (answer.found, answer.error) == ({"wanted": [Missing("it", "a", "seen 0"), Missing("it", "a", " 127")]}, "")


def test_a_node_that_the_request_lacks_says_so(tmp_path: Path) -> None:
    assert work(Site(tmp_path).request(), "z").error == "the request does not name this node"


def test_a_port_that_is_taken_is_an_error_of_the_node(site: Site) -> None:
    gate = Receiver(traffic.GATE_PORT, {})
    try:
        assert "OSError" in work(site.request(sites.Test(PATH, ("a", "b"), (0,))), "a").error
    finally:
        gate.close()


@pytest.mark.parametrize(("name", "delivered"), [("a", True), ("b", False)])
def test_a_passport_goes_to_its_node(
    name: str, delivered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[tuple[str, ...]] = []
    monkeypatch.setattr(worker_io, "deliver", lambda *words: got.append(words))
    monkeypatch.setattr(worker_io, "depends", lambda: {"kernel": "6.12"})
    request = Site(tmp_path).request(passports={"a": ("text", "signature", "key")}, depends=True)
    assert work(request, name).depends == {"kernel": "6.12"}
    assert got == [("text", "signature", "key")] * delivered


def test_a_refused_passport_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: str) -> None:
        raise DeviceError("not signed")

    monkeypatch.setattr(worker_io, "deliver", refuse)
    assert work(Site(tmp_path).request(passports={"a": ("", "", "")}), "a").error == "DeviceError: not signed"


def test_the_program_answers_by_its_name_in_slurm(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("SLURMD_NODENAME", "b")
    monkeypatch.setenv("PATH", "/none")
    request = Site(tmp_path).request()
    assert main(request.to_json()) == 0
    assert answers(capsys.readouterr().out)["b"].error == ""
    assert "/usr/sbin" in os.environ["PATH"]


def test_the_gid_is_the_intents_or_the_first_of_an_ipv4_address(tmp_path: Path) -> None:
    node = replace(BUILD, gid_index=-1)
    for at, kind in ((0, "IB/RoCE v1"), (2, "RoCE v2"), (5, "RoCE v2")):
        for folder, text in (("gids", "0000:0000:0000:0000:0000:ffff:0a00:0001"), ("types", kind), ("ndevs", "r0")):
            path = tmp_path / "m0/ports/1" / ("" if folder == "gids" else "gid_attrs") / folder / str(at)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
    assert (gid_of(node, 0, tmp_path), gid_of(BUILD, 0, tmp_path)) == (2, 3)
    with pytest.raises(DeviceError, match="m1 has no RoCE v2 GID with an IPv4 address on r1"):
        gid_of(node, 1, tmp_path)

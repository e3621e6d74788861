# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""perftest's two ends as processes that talk over TCP; the proof's own parser reads what they print."""

import json
import re
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import perftest_text

from lab.emulators.common import Device
from tests.lab.emulators.fabric.conftest import Room

BW = ["-F", "--report_gbits", "-s", "1048576", "-q", "4", "--tclass=106"]
LAT = ["-F", "-n", "1000", "--tclass=106"]


def listening(host, tool, *argv):
    """Start a server, and return it once it listens."""
    server = host.start(tool, *argv)
    while "Waiting for client" not in server.stdout.readline():
        assert server.poll() is None
    return server


def ends(receiver, senders, port, tool="ib_write_bw", options=BW, device="mlx5_3"):
    """Run servers, one for each sender, and then the senders; return ends of clients and of servers."""
    argv = ["-d", device, "-x", "3", *options, "-p"]
    servers = [listening(receiver, tool, *argv, port + at) for at in range(len(senders))]
    clients = [host.start(tool, *argv, port + at, "127.0.0.1") for at, host in enumerate(senders)]
    done = [(*process.communicate(timeout=300), process.returncode) for process in (*clients, *servers)]
    return done[: len(senders)], done[len(senders) :]


def values(found) -> list[Any]:
    """Numbers, or the reasons why there are none."""
    return [getattr(it, "value", getattr(it, "why", "")) for it in found]


def read(client):
    """What the proof's parser finds."""
    stdout, stderr, code = client
    return values(perftest_text.measures(stdout, stderr, code, "", ""))


def test_a_pair_talks_and_its_counters_move(hosts, free_port, tmp_path):
    file = tmp_path / "bw.json"
    options = [*BW, "-D", "1", "--out_json", f"--out_json_file={file}"]
    (client,), ((_printed, complaint, code),) = ends(hosts[1], hosts[:1], free_port, options=options)
    assert (client[2], code, complaint) == (0, 0, "")
    rate, mtu = read(client)
    assert (mtu, rate) == (4096, pytest.approx(388, rel=0.011))
    assert values(perftest_text.measures(file.read_text(), "", 0, "", ""))[0] == rate
    for host, counter in zip(hosts, ("tx_prio3_packets", "rx_prio3_packets"), strict=False):
        shown = dict(line.split(": ") for line in host.run("ethtool", "-S", "rail3").stdout.split("\n     ")[1:])
        assert int(shown[counter]) == pytest.approx(rate * 1e9 / 8 / 4096, rel=0.001)


@pytest.mark.parametrize(("tool", "us"), [("ib_write_lat", 3.1), ("ib_read_lat", 5.27)])
def test_latencies(hosts, free_port, tool, us):
    (client,), ((_printed, _complaint, code),) = ends(hosts[1], hosts[:1], free_port, tool, LAT)
    assert (read(client), code) == ([pytest.approx(us, rel=0.02), 4096], 0)


def test_the_head_is_that_of_the_real_tool(hosts, free_port, transcript):
    """The release differs from the transcript's in two lines."""
    (client,), _servers = ends(hosts[1], hosts[:1], free_port)
    wanted = transcript("proof/write_bw.txt").replace("Using Enhanced Reorder", "Using DDP")
    wanted = wanted.replace(" CQE Poll Batch  : 16\n", "")
    printed, wanted = client[0].splitlines(), wanted.splitlines()
    assert (printed[:16], printed[-3]) == (wanted[:16], wanted[-3])
    shapes = [[re.sub(r"0x[0-9a-f]+|\d+", "0", line) for line in lines[16:18]] for lines in (printed, wanted)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-d", "mlx5_9"], "no RDMA device"),
        (["-d", "mlx5_3", "--bogus"], "does not know an option"),
        (["-d", "mlx5_3", "--use_cuda=0"], "cannot use GPU memory"),
        (["-d", "mlx5_3", "-p", "{port}", "127.0.0.1"], "the server does not listen"),
    ],
)
def test_one_end_alone_fails(hosts, free_port, options, why):
    process = hosts[0].run("ib_write_bw", *(word.format(port=free_port) for word in options))
    (found,) = read((process.stdout, process.stderr, process.returncode))
    assert (process.returncode, why in found) == (1, True)


def test_a_rail_without_a_link_starts_neither_end(hosts):
    (hosts[0].directory / "sys/class/net/rail3/operstate").write_text("down\n")
    process = hosts[0].run("ib_write_bw", "-d", "mlx5_3")
    assert (process.returncode, process.stderr.splitlines()[0]) == (1, " Port number 1 state is Down")


def test_a_gid_that_is_missing_fails_both_ends(hosts, free_port):
    (hosts[1].directory / "sys/class/infiniband/mlx5_3/ports/1/gids/3").unlink()
    clients, servers = ends(hosts[1], hosts[:1], free_port)
    assert [(code, "Failed to modify QP 420 to RTR" in complaint) for _, complaint, code in clients + servers] == [
        (1, True)
    ] * 2
    assert "wrong GID index" in read(clients[0])[0]


def test_vanishing_packets_hang_the_client_and_the_server_ends_well(hosts, free_port):
    with hosts[1].device("proof").state() as state:
        state["rails"] = {"rail3": {"dead": True}}
    argv = ["-d", "mlx5_3", *BW, "-p", free_port]
    server = listening(hosts[1], "ib_write_bw", *argv)
    client = hosts[0].start("ib_write_bw", *argv, "127.0.0.1")
    while "#bytes" not in client.stdout.readline():
        pass
    client.kill()
    client.communicate()
    printed, complaint = server.communicate(timeout=300)
    assert (server.returncode, complaint, printed.rstrip().endswith("MsgRate[Mpps]")) == (0, "", True)


ROCE = ["qos map dscp 26 to traffic-class 3", "qos profile ROCE", "qos trust dscp", "priority-flow-control on"]
ROCE += ["priority-flow-control priority 3 no-drop", "uc-tx-queue 3"]
ROCE += ["random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100"]


@pytest.fixture
def leaf(hosts, tmp_path):
    """leaf1 with the lossless class on its ports 1 to 24, as a switch that shows its state to the hosts."""
    room = Room(tmp_path, "eos", "", 24)
    room.switch.show_to(Device(hosts[0].shared / "fabric/leaf1"))
    ports = [line for at in range(1, 25) for line in (f"interface Ethernet{at}", "service-profile ROCE")]
    room.type(
        "enable", "terminal length 0", "configure", *ROCE, *ports, "uc-tx-queue 3", "random-detect ecn count", "end"
    )
    return room


def dropped(leaf, port):
    queues = json.loads(leaf.type("show interfaces counters queue detail | json"))["egressQueueCounters"]["interfaces"]
    return queues[port]["ucastQueues"]["trafficClasses"]["TC3"]["dropPrecedences"]["DP0"]["droppedPackets"]


def test_a_wrong_line_of_a_switch_breaks_an_incast_and_shows_where(hosts, leaf, free_port):
    """One host receives from two; nothing but the switch changes in between."""
    rates = []
    for line in ("", "no service-profile", "service-profile ROCE"):
        leaf.type("configure", "interface Ethernet12", *[line] * bool(line), "end")
        clients, _servers = ends(hosts[1], [hosts[0], hosts[2]], free_port)
        rates += [read(client)[0] for client in clients]
        if not line:
            assert (dropped(leaf, "Ethernet12"), leaf.state["passed"]["Ethernet12"]["3"]["marked"] > 0) == (0, True)
    assert rates == [pytest.approx(400 * share, rel=0.02) for share in (0.48, 0.48, 0.194, 0.194, 0.48, 0.48)]
    assert dropped(leaf, "Ethernet12") > 0
    counters = hosts[1].directory / "sys/class/infiniband/mlx5_3/ports/1/hw_counters"
    assert [int((counters / name).read_text()) > 0 for name in ("np_cnp_sent", "out_of_sequence")] == [True, True]


@pytest.mark.parametrize(
    ("line", "port", "code", "why"),
    [
        ("shutdown", 12, 1, "Failed to modify QP"),
        ("mtu 1500", 12, 1, "packets are lost, or a hop has a smaller MTU"),
        ("mtu 9214", 12, 0, ""),
    ],
)
def test_a_wrong_line_of_a_switch_breaks_a_pair(hosts, leaf, free_port, line, port, code, why):
    server = listening(hosts[1], "ib_write_bw", "-d", "mlx5_3", *BW, "-p", free_port)
    leaf.type("configure", f"interface Ethernet{port}", "no switchport", line, "end")
    done = hosts[0].run("ib_write_bw", "-d", "mlx5_3", *BW, "-p", free_port, "127.0.0.1")
    server.communicate(timeout=300)
    found = read((done.stdout, done.stderr, done.returncode))[0]
    assert (done.returncode, why in str(found) or why in done.stderr) == (code, True)


def test_a_server_that_was_killed_is_no_flow_any_more(hosts, free_port):
    killed = listening(hosts[1], "ib_write_bw", "-d", "mlx5_3", "-p", free_port + 7)
    killed.kill()
    killed.communicate()
    (client,), _servers = ends(hosts[1], hosts[:1], free_port)
    assert read(client)[0] == pytest.approx(388, rel=0.011)


@pytest.mark.parametrize(
    ("effect", "code", "why"), [("refuse", 1, "no RDMA device"), ("die", -9, "signal 9"), ("lie", 0, 400)]
)
def test_a_fault_strikes_the_client(hosts, free_port, effect, code, why):
    with hosts[1].device("proof").state() as state:
        state["rails"] = {"rail3": {"percent": 50}}
    hosts[0].device("proof").add_fault("ib_write_bw", effect, match="127.0.0.1")
    server = listening(hosts[1], "ib_write_bw", "-d", "mlx5_3", *BW, "-p", free_port)
    done = hosts[0].run("ib_write_bw", "-d", "mlx5_3", *BW, "-p", free_port, "127.0.0.1")
    server.kill()
    server.communicate()
    found = read((done.stdout, done.stderr, done.returncode))[0]
    assert done.returncode == code
    assert why in found if isinstance(why, str) else found == pytest.approx(why, rel=0.011)

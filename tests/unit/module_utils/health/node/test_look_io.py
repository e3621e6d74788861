# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look import HELD, Files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look_io import (
    Host,
    facts,
    findings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.node_settings import (
    NodeSettings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output

from tests.unit.module_utils.health.fake_node import FakeNode
from tests.unit.module_utils.proof.checks.healthy import NODE, TEXTS
from tests.unit.processes import LIMITS_S, gone

LONG_S = 300.0
COUNTERS = "var/lib/drawbridge/health/counters.json"
SPEED = "/sys/class/net/rail1/speed"
SETTINGS = NodeSettings(replace(NODE, gpus=0))


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def host(node: FakeNode, seconds: float = LONG_S) -> Host:
    return Host(str(node.root), node.run, node.path, time.monotonic() + seconds)


def found(
    node: FakeNode, where: str = "health", settings: NodeSettings = SETTINGS, limit_s: float = LONG_S
) -> list[str]:
    return [str(it) for it in findings(settings, where, host(node, limit_s), str(node.root))[0]]


def pid_of(file: Path) -> int:
    return int(file.read_text() or "0") if file.exists() else 0


def test_a_program_has_its_output_its_code_and_its_path(node: FakeNode) -> None:
    node.tool("it", "echo $PATH $LC_ALL; echo no >&2; exit 3")
    assert host(node).run(["it"], LONG_S) == Output(f"{node.bin} C\n", "no\n", 3)
    assert host(node).run(["env", "-i", "PATH=/usr/bin", "it"], LONG_S).stdout == f"{node.bin}\n"
    assert host(node).run(["none"], LONG_S).code == 127
    (node.bin / "it").chmod(0o600)
    assert host(node).run([str(node.bin / "it")], LONG_S).code == 126


def hanging(node: FakeNode, body: str, lock: str = "") -> Output:
    """What comes of a program that begins and never ends."""
    file, done = node.root / "pid", Output("", "", 0)
    node.tool("it", f"echo begun; {body.format(pid=file)}")
    for limit_s in LIMITS_S:
        done = host(node).run(["it"], limit_s, lock)
        if pid_of(file):
            break
    return done


def test_a_program_that_hangs_is_ended_with_its_children(node: FakeNode) -> None:
    assert hanging(node, "sleep 600 & echo $! > {pid}; wait") == Output("begun\n", "", 124)
    gone(pid_of(node.root / "pid"))


def test_no_program_outlives_the_time_of_all(node: FakeNode) -> None:
    """Its own limit is far away."""
    node.tool("it", "exec sleep 600")
    assert host(node, 0.2).run(["it"], LONG_S).code == 124
    assert host(node, -5).run(["it"], LONG_S).code == 124


def test_the_first_look_has_a_third_of_the_time(node: FakeNode) -> None:
    """The second one then has at least twice as much."""
    assert 90 < host(node, 300).shared().left(300) <= 100


def test_while_a_program_can_not_be_killed_no_second_one_starts(node: FakeNode) -> None:
    """A process that has left the session stands for one that hangs in the kernel."""
    begun = node.root / "begun"
    body = f"echo x >> {begun}; setsid sleep 600 & echo $! > {{pid}}; wait"
    assert hanging(node, body, "it").code == 124
    runs = begun.read_text()
    assert host(node).run(["it"], 0.2, "it") == Output("", "", HELD)
    assert begun.read_text() == runs
    os.kill(pid_of(node.root / "pid"), 9)
    node.tool("it", "exec cat")
    assert host(node).run(["it"], LONG_S, "it").code == 0


def test_a_look_of_another_is_waited_for(node: FakeNode) -> None:
    said: list[str] = []
    with held(node, "ethtool-m-rail0"):
        for limit_s in LIMITS_S:
            said = found(node, limit_s=limit_s)
            if len(said) == 1:
                break
    assert said == ["[node reboot] rail0: optics: ethtool of an earlier check still hangs"]
    assert found(node) == []


@contextmanager
def held(node: FakeNode, lock: str) -> Iterator[None]:
    """A lock that another open file holds."""

    with (node.run / f"{lock}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_files_are_read_below_the_root_and_absent_ones_are_absent(node: FakeNode) -> None:
    read = host(node).read([SPEED, "/sys/class/net/*/mtu", "/none"], LONG_S)
    rails = {path: text for path, text in TEXTS.items() if path.endswith("/mtu")}
    assert (read.texts, read.unread, read.code) == ({SPEED: "400000\n", **rails}, (), 0)


def test_a_file_that_hangs_holds_up_no_one_and_is_named(node: FakeNode) -> None:
    node.blocks(SPEED)
    mtu, last = "/sys/class/net/rail0/mtu", "/proc/uptime"
    read = Files({})
    for limit_s in LIMITS_S:
        read = host(node, limit_s).read([mtu, SPEED, last], LONG_S)
        if mtu in read.texts:
            break
    assert (read.texts, read.unread, read.code) == ({mtu: "9000\n"}, [SPEED, last], 124)


def test_a_healthy_node_finds_nothing_and_keeps_its_counters(node: FakeNode) -> None:
    for where in ("prolog", "epilog"):
        assert found(node, where) == []
        assert not (node.root / COUNTERS).exists()
    assert found(node) == []
    assert json.loads((node.root / COUNTERS).read_text())["boot"] == "one"


def test_a_healthy_node_with_gpus_finds_nothing(node: FakeNode) -> None:
    assert found(node, settings=NodeSettings(NODE)) == []


DOWN = "[fabric] rail1: rail link: rail1 is down"


@pytest.mark.parametrize("where", ["health", "prolog", "epilog"])
def test_a_dead_link_is_found_at_each_place(where: str, node: FakeNode) -> None:
    node.write("/sys/class/net/rail1/operstate", "down\n")
    assert found(node, where) == [DOWN]


def test_a_reader_that_hangs_in_a_look_at_intervals_keeps_no_job_from_its_check(node: FakeNode) -> None:
    node.write("/sys/class/net/rail1/operstate", "down\n")
    with held(node, "files-health"):
        assert found(node, "prolog") == [DOWN]
        assert "[node reboot] rail link: its files: the reader of an earlier check still hangs" in found(
            node, limit_s=1.0
        )


def test_counters_are_compared_with_the_last_look(node: FakeNode) -> None:
    path = "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed"
    node.write(path, "4\n")
    assert found(node) == []
    node.write(path, "5\n")
    assert found(node) == [], "the time is too short for a rate"
    node.write("/proc/uptime", "36300.00 1.0\n")
    assert found(node) == ["[fabric] rail1: rail rates: link_downed rose by 1 in 300 s, at most 0"]
    node.write("/proc/uptime", "36600.00 1.0\n")
    assert found(node) == []


def test_a_look_without_a_place_for_counters_goes_on(node: FakeNode) -> None:
    node.write("/var/lib/drawbridge/health", "a file")
    assert found(node) == []


def test_a_finding_counts_when_it_repeats(node: FakeNode) -> None:
    asked, real = node.root / "asked", (node.bin / "ethtool").read_text().partition("\n")[2]
    once = f"test -e {node.root}/second || {{ touch {node.root}/second; exit 5; }}"
    for fails, said in (
        (once, []),
        ("exit 5", ["rail1: optics: not measured: not recognised (exit code 5): no output"]),
    ):
        asked.write_text("")
        node.tool("ethtool", f'echo "$*" >> {asked}; case "$*" in "-m rail1") {fails};; esac; {real}')
        assert found(node) == said
        calls = asked.read_text().splitlines()
        assert (calls.count("-m rail1"), calls.count("-S rail1")) == (2, 1), "other checks run once"


def test_a_tool_that_lacks_or_lies_is_named_once(node: FakeNode) -> None:
    settings = NodeSettings(NODE)
    node.tool("nvidia-smi", "echo all is well")
    assert "GPUs present: not measured: not recognised (exit code 0): all is well" in found(node, settings=settings)[0]
    (node.bin / "nvidia-smi").unlink()
    assert found(node, settings=settings) == [
        "GPUs present: nvidia-smi is not installed",
        "GPU link state: nvidia-smi is not installed",
    ]


def test_a_tool_that_hangs_delays_no_look_beyond_its_time(node: FakeNode) -> None:
    """Only the look ends it, and the limit of the program itself is far away."""
    node.tool("ethtool", f"exec cat {node.blocks('/pipe')}")
    assert "rail0: optics: ethtool does not answer" in found(node, limit_s=1.0)


def test_nhc_changes_nothing_in_slurm_and_its_error_is_a_finding(node: FakeNode) -> None:
    node.tool("nhc", f'echo "$*" >> {node.root}/nhc; echo "ERROR:  nhc:  Health check failed:  no swap"; exit 1')
    settings = replace(SETTINGS, nhc=str(node.bin / "nhc"))
    assert found(node, settings=settings) == ["nhc: no swap"]
    assert (node.root / "nhc").read_text() == "MARK_OFFLINE=0 DETACHED_MODE=0\n" * 2
    assert found(node, "prolog", settings) == []


def test_without_a_process_of_a_step_memory_that_is_left_counts(node: FakeNode) -> None:
    node.write("/proc/meminfo", "MemTotal: 100000 kB\nMemAvailable: 100 kB\n")
    node.write("/proc/1/comm", "systemd\n")
    node.write("/proc/1/cgroup", "0::/init.scope\n")
    [leaked] = found(node)
    assert leaked.startswith("[user] ")
    node.write("/proc/1/cgroup", "0::/system.slice/slurmstepd.scope/job_1/step_0/user/task_0\n")
    assert found(node) == []


def test_facts_have_each_program_and_each_file(node: FakeNode) -> None:
    node.tool("dmidecode", 'echo "Serial Number: 4711 ($*)"')
    node.tool("dmesg", "echo no >&2; exit 1")
    said = facts(NodeSettings(NODE), host(node))
    types = "--type system --type baseboard"
    for words in (
        f"$ dmidecode {types}\nSerial Number: 4711 ({types})\nexit code 0\n",
        "$ dmesg\nno\nexit code 1\n",
        "$ ethtool -S rail1\n",
        f"{SPEED}: 400000\n",
    ):
        assert words in said
    assert said.count("$ nvidia-smi -q -x\n") == 1


def test_a_look_that_can_not_lock_says_so(node: FakeNode) -> None:
    node.run.rmdir()
    with pytest.raises(OSError, match="No such file"):
        found(node)


def test_findings_have_their_first_look(node: FakeNode) -> None:
    node.write("/sys/class/net/rail1/operstate", "down\n")
    some, first = findings(SETTINGS, "prolog", host(node), str(node.root))
    assert (some, first.doubtful) == ((Finding.parse(DOWN),), {"rail link"})

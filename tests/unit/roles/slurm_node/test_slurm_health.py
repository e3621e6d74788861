# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.node_record import HEALTH, RELEASES, recorded
from tests.unit.processes import LIMITS_S
from tests.unit.roles.slurm_node.health_node import Node
from tests.waiting import until

OURS = "drawbridge: health: /gpfs/fs1 is not mounted"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_healthy_node_is_left_alone(node: Node) -> None:
    assert node.run("--look") == (0, "")
    assert node.run() == (0, "")
    assert node.told() == []


def test_files_of_lost_jobs_are_removed_once_for_each_slurmd(node: Node) -> None:
    """Here the tests are the parent process. A failure is tried again."""
    ran = node.root / "tidied"
    node.look(["/proc"], job_gpus=str(node.root / "bin/job-gpus"))
    for body in ("exit 1", "exit 0", "exit 0"):
        node.command("job-gpus", f'echo "$* $SLURMD_NODENAME" >> {ran}; {body}')
        assert node.run() == (0, "")
    assert ran.read_text() == "tidy gpu01\n" * 2
    (node.root / "run/slurm-job-gpus").write_text("1")
    node.run()
    assert ran.read_text() == "tidy gpu01\n" * 3


def test_every_finding_is_in_the_reason(node: Node) -> None:
    node.look(["/proc", "/gpfs/fs1"], gpus=3)
    node.command("unmunge", "echo 'unmunge: Error: Rewound credential' >&2; exit 16")
    node.run()
    wrong = "/gpfs/fs1 is not mounted; unmunge: unmunge: Error: Rewound credential; 2 GPUs instead of 3"
    assert node.told() == [f"update nodename=gpu01 state=drain reason=drawbridge: health: {wrong}"]
    assert node.run("--look") == (1, wrong)
    assert len(node.told()) == 1


def test_a_part_may_be_left_out_of_a_look(node: Node) -> None:
    for name in ("20-nic", "60-passport"):
        part = node.root / "health.d" / name
        part.write_text(f"#!/bin/sh\necho '{name} found it'; exit 1\n")
        part.chmod(0o755)
    assert node.run("--look") == (1, "20-nic: 20-nic found it; 60-passport: 60-passport found it")
    assert node.run("--look", "--without", "60-passport") == (1, "20-nic: 20-nic found it")
    node.run()
    assert node.told()[-1].endswith("60-passport: 60-passport found it")


def test_a_gpu_that_only_the_driver_misses_is_a_finding(node: Node) -> None:
    node.command("nvidia-smi", "echo 'GPU 0: H100'")
    assert node.run("--look") == (1, "1 GPUs in the driver's list instead of 2")
    node.command("nvidia-smi", "echo 'Unable to determine the device handle'; exit 15")
    assert node.run("--look") == (1, "nvidia-smi: Unable to determine the device handle")


def test_without_gpus_or_without_their_tool_the_driver_is_not_asked(node: Node) -> None:
    node.command("nvidia-smi", "exit 9")
    for device in (node.root / "dev").glob("nvidia[0-9]"):
        device.unlink()
    node.look(["/proc"], gpus=0)
    assert node.run("--look") == (0, "")


LOST, REBOOTED, POWER = "Not responding", "Node unexpectedly rebooted", "power work"
RESUMED, LIFTED, DRAINED = "state=resume", "state=undrain", f"state=drain reason={OURS}"


@pytest.mark.parametrize(
    ("state", "reason", "returns", "sound", "told"),
    [
        # an existing reason stays
        ("IDLE+DRAIN", POWER, False, False, ""),
        ("ALLOCATED+DRAIN", "drawbridge gate: not proven empty", False, False, ""),
        ("IDLE+DRAIN", "drawbridge: prolog part 10-x ended with code 1 in job 7", False, False, ""),
        ("DOWN", LOST, False, False, ""),
        ("IDLE+DRAIN", OURS, False, False, ""),
        # its own drain is lifted, and no other, of a node that is up
        ("IDLE+DRAIN", "drawbridge gate: not proven empty", False, True, ""),
        ("IDLE+DRAIN", "drawbridge: hardware: 7 GPUs instead of 8", False, True, ""),
        ("IDLE+DRAIN", "see drawbridge: health: in the wiki", False, True, ""),
        ("DOWN", OURS, False, True, ""),
        ("IDLE", OURS, False, True, ""),
        ("MIXED+DRAIN", OURS, False, True, LIFTED),
        # a node that Slurm lost returns if it may; with a finding it stays out, with that reason until it is settled
        ("DOWN", LOST, True, True, RESUMED),
        ("DOWN", REBOOTED, True, True, RESUMED),
        ("DOWN", POWER, True, True, ""),
        ("DOWN+DRAIN", LOST, True, True, ""),
        ("DOWN", LOST, False, True, ""),
        ("DOWN", REBOOTED, False, True, ""),
        ("IDLE", LOST, True, True, ""),
        ("DOWN", REBOOTED, True, False, DRAINED),
        ("DOWN+DRAIN", OURS, True, True, RESUMED),
    ],
)
def test_the_nodes_state_in_slurm_decides_the_update(
    node: Node, state: str, reason: str, returns: bool, sound: bool, told: str
) -> None:
    node.look(["/proc" if sound else "/gpfs/fs1"], returns=returns)
    node.slurm(state, reason)
    node.run()
    assert node.told() == ([f"update nodename=gpu01 {told}"] if told else [])


@pytest.mark.parametrize(
    ("state", "reason", "listing", "sound", "told"),
    [
        # a node without a partition
        ("IDLE", "", "", False, DRAINED),
        ("MIXED+DRAIN", OURS, "", True, LIFTED),
        ("DOWN", LOST, "", True, RESUMED),
        # slurmctld's old count of its jobs, for which scontrol has a new one
        ("DOWN", LOST, f"mixed+not_responding {LOST}\n", True, RESUMED),
        ("DOWN", POWER, f"mixed {POWER}\n", False, ""),
    ],
)
def test_what_sinfo_does_not_say_for_certain_scontrol_shows(
    node: Node, state: str, reason: str, listing: str, sound: bool, told: str
) -> None:
    node.look(["/proc" if sound else "/gpfs/fs1"], returns=told != LIFTED)
    node.slurm(state, reason)
    node.listing(listing)
    node.run()
    read = ["sinfo --nodes=gpu01", "--oneliner show node gpu01"]
    assert node.asked.read_text().splitlines() == read + ([f"update nodename=gpu01 {told}"] if told else [])


def test_a_reason_may_have_bytes_that_are_no_text(node: Node) -> None:
    node.look(["/gpfs/fs1"])
    (node.root / "listing").write_bytes(b"idle L\xfcfter\n")
    assert node.run() == (0, "")
    assert node.told() == [f"update nodename=gpu01 {DRAINED}"]


def test_a_busy_node_is_read_with_one_call(node: Node) -> None:
    node.slurm("MIXED")
    node.run()
    assert node.asked.read_text() == "sinfo --nodes=gpu01\n"


@pytest.mark.parametrize("release", RELEASES)
def test_a_record_of_a_real_slurm_is_read(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = recorded(release)
    unknown = moments.pop("unknown")
    for moment in moments.values():
        base, flags = (seen := moment.seen()).state, seen.flags
        assert moment.words(monkeypatch) == ({base, *flags}, seen.reason)
    with pytest.raises(HEALTH.Unhealthy, match="Node nope not found"):
        unknown.words(monkeypatch)


def test_the_output_of_a_sites_own_check_is_reported(node: Node) -> None:
    for name, body in (("10-ib", "echo rail3 is down >&2; exit 1"), ("20-ok", ""), ("20-ok.dpkg-old", "exit 1")):
        path = node.root / "health.d" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    assert node.run("--look") == (1, "10-ib: rail3 is down")


def silent(node: Node) -> tuple[int, str]:
    """What a look finds where something hangs; munge and the driver's tool answer, if they get the time."""
    found = (0, "")
    for limit_s in LIMITS_S:
        found = node.run("--look", "--limit", str(limit_s))
        if "munge" not in found[1] and "nvidia-smi" not in found[1]:
            break
    return found


def test_a_file_system_that_hangs_is_a_finding(node: Node) -> None:
    node.command("stat", "exec sleep 600")
    assert silent(node) == (1, "/proc is mounted, but stat does not answer")


def test_while_a_check_hangs_no_other_begins(node: Node) -> None:
    """A lock that its process holds stands for one that can't be killed."""
    with held(node, "read end") as holder:
        assert silent(node) == (1, "/proc is mounted, but an earlier check hangs")
        holder.communicate(b"\n")
    assert node.run("--look") == (0, "")


def test_two_checks_at_once_are_no_finding(node: Node) -> None:
    """A playbook's, and Slurm's own: who comes second waits for the other, which takes a moment."""
    lock = node.root / "run/health-proc.lock"
    with held(node, "read end") as first, node.start("--look") as second:
        until(lambda: opened(second.pid, lock) or second.poll() is not None, 60, "the second look is there")
        time.sleep(0.5)  # time to do the wrong thing
        first.communicate(b"\n")
        assert (second.communicate(timeout=120), second.returncode) == (("\n", ""), 0)


def opened(process: int, path: Path) -> bool:
    return path in {link.readlink() for link in Path(f"/proc/{process}/fd").iterdir()}


def test_a_finding_counts_when_it_repeats(node: Node) -> None:
    node.command("munge", f"echo $$ >> {node.root}/asks; test $(wc -l < {node.root}/asks) != 1 && echo credential")
    node.run()
    assert node.told() == []
    node.command("munge", "exit 1")
    node.run()
    assert node.told() == ["update nodename=gpu01 state=drain reason=drawbridge: health: munge: exit code 1"]


def test_who_answers_late_has_twice_the_time_at_the_second_try(node: Node) -> None:
    """The second call of the stand-in answers after one and a half times the limit of the first."""
    asks, found = node.root / "asks", (1, "")
    for limit_s in LIMITS_S:
        asks.write_text("")
        second = f"test $(wc -l < {asks}) = 1 && exec sleep 600; sleep {1.5 * limit_s}"
        node.command("munge", f"echo $$ >> {asks}; {second}; echo credential")
        found = node.run("--look", "--limit", str(limit_s))
        if found == (0, ""):
            break
    assert found == (0, "")


def test_slurms_next_check_leaves_a_slow_one_alone(node: Node) -> None:
    """The findings of the slow one may be out of date when it reports them."""
    node.look(["/gpfs/fs1"])
    lock = node.root / "run/slurm-health.lock"
    lock.parent.mkdir()
    with lock.open("w") as slow:
        fcntl.flock(slow, fcntl.LOCK_EX)
        assert node.run() == (0, "")
        assert node.run("--look") == (1, "/gpfs/fs1 is not mounted")
    assert node.told() == []
    node.run()
    assert len(node.told()) == 1


@contextmanager
def held(node: Node, command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another look, as long as a command takes."""
    lock = node.root / "run/health-proc.lock"
    lock.parent.mkdir()
    argv = ["flock", str(lock), "sh", "-c", f"echo held; {command}"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        yield holder


def test_a_slurm_that_does_not_answer_is_no_failure(node: Node) -> None:
    node.command("scontrol", "exit 1")
    node.command("sinfo", "exit 1")
    node.look(["/gpfs/fs1"])
    assert node.run() == (0, "")


LOOKS = "50-state"
"""With this part a node reports."""


def part(node: Node, name: str, body: str) -> None:
    path = node.root / "health.d" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def reported(node: Node, *mounts: str, **more: bool) -> list[str]:
    """What drawbridge-node-health gets: its words, then a finding a line."""
    told = node.root / "told"
    told.unlink(missing_ok=True)
    node.look(mounts or ["/proc"], **more)
    if not (node.root / f"health.d/{LOOKS}").exists():
        part(node, LOOKS, "exit 0")
    node.command("drawbridge-node-health", f'echo "$*" >> {told}; cat >> {told}')
    assert node.run() == (0, "")
    return told.read_text().splitlines()


def test_a_node_that_reports_drains_and_lifts_nothing(node: Node) -> None:
    """An empty report clears the last one."""
    node.slurm("IDLE+DRAIN", OURS)
    assert reported(node) == ["report"]
    node.slurm("IDLE")
    assert reported(node, "/proc", "/gpfs/fs1") == ["report", "/gpfs/fs1 is not mounted"]
    assert not node.asked.exists(), "Slurm hears from the other program alone"


def test_who_reports_also_returns_a_lost_node(node: Node) -> None:
    node.slurm("DOWN", LOST)
    assert reported(node, returns=True) == ["report --returns"]
    assert node.told() == []


def test_whose_fault_it_is_comes_first(node: Node) -> None:
    lines = {
        "10-a": "[user] /tmp is full",
        "11-b": "[fabric repair] [x] y",
        "12-c": "[odd] z",
        "13-d": "14-d: [user] b",
    }
    for name, line in lines.items():
        part(node, name, f"echo '{line}'; exit 1")
    said = ["[user] 10-a: /tmp is full", "[fabric repair] 11-b: [x] y", "12-c: [odd] z", "13-d: 14-d: [user] b"]
    assert reported(node) == ["report", *said]
    assert node.run("--look") == (1, "; ".join(said))
    (node.root / f"health.d/{LOOKS}").unlink()
    assert node.run("--look")[1].startswith("10-a: [user] /tmp is full; ")


def test_the_part_that_looks_twice_by_itself_runs_once_and_has_many_findings(node: Node) -> None:
    runs = node.root / "runs"
    part(node, "50-state", f"echo x >> {runs}; echo 'rail1: optics: x'; echo '[user] /tmp: disk space: y'; exit 1")
    assert reported(node) == ["report", "rail1: optics: x", "[user] /tmp: disk space: y"]
    assert runs.read_text() == "x\n"
    assert node.run("--look", "--without", "50-state") == (0, "")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("exit 0", []),
        ("echo it can not look >&2; exit 2", ["50-state: it can not look"]),
        ("printf 'Traceback:\\n  line 1\\nTypeError: x\\n' >&2; exit 1", ["50-state: TypeError: x"]),
        ("exit 137", ["50-state: exit code 137"]),
    ],
)
def test_the_part_that_can_not_look_is_a_finding_when_it_repeats(body: str, found: list[str], node: Node) -> None:
    runs = node.root / "runs"
    part(node, "50-state", f"echo x >> {runs}; {body}")
    assert reported(node) == ["report", *found]
    assert len(runs.read_text()) == 2 * (1 + len(found))
    part(node, "50-state", f"test -e {node.root}/second && exit 0; touch {node.root}/second; {body}")
    assert reported(node) == ["report"]


def test_other_checks_go_on_while_the_hardware_is_looked_at(node: Node) -> None:
    """Each of the two waits for the other."""
    wait = f"until test -e {node.root}/{{}}; do sleep 0.05; done"
    node.command("munge", f"touch {node.root}/asks; {wait.format('looks')}; echo credential")
    part(node, "50-state", f"touch {node.root}/looks; {wait.format('asks')}; echo found; exit 1")
    assert reported(node) == ["report", "found"]


def test_a_report_that_is_not_taken_is_no_failure(node: Node) -> None:
    tidied = node.root / "tidied"
    part(node, LOOKS, "exit 0")
    node.look(["/gpfs/fs1"], job_gpus=str(node.root / "bin/job-gpus"))
    node.command("job-gpus", f"touch {tidied}")
    node.command("drawbridge-node-health", "exit 2")
    assert (node.run(), tidied.exists(), node.told()) == ((0, ""), True, [])

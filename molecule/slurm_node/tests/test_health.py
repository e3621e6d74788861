# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that looks after itself: Slurm's own daemon runs the check, which drains, lifts its drain, and no other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from lab.hosts.paths import REPOSITORY, Paths
from tests.waiting import until

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://gpu02?ssh_config={SSH_CONFIG}&timeout=60"]

LOOK = "/etc/drawbridge/slurm/health.json"
PART = "/etc/drawbridge/slurm/health.d/50-test"
MOUNT = "/run/health-test"
NOT_MOUNTED = f"drawbridge: health: {MOUNT} is not mounted"
LOOKS = "/run/health-looks"
HEALTH = "/usr/local/libexec/drawbridge/slurm-health"
LOOK_NOW = f"{HEALTH} --look --limit 40"
"""With more time for each question than a busy machine needs."""
PATIENCE_S = 300
"""Some of the lab's intervals: a look in which Slurm does not answer counts for nothing."""


@pytest.fixture
def broken(host: Host) -> Iterator[None]:
    """The node needs a file system that it does not have."""
    before = host.check_output(f"cat {LOOK}")
    needs = json.dumps({**json.loads(before), "mounts": [MOUNT]})
    host.check_output(f"mkdir -p {MOUNT}; echo '{needs}' > {LOOK}")
    yield
    host.check_output(f"echo '{before}' > {LOOK}; umount {MOUNT} || true; rm -f {PART} {LOOKS}")
    in_service(host)


def lab(*words: str) -> None:
    subprocess.run([sys.executable, "lab/lab", *words], cwd=REPOSITORY, check=True, capture_output=True)


def state(host: Host) -> str:
    """State and reason, without the star of a node whose last answer is a while ago: busy machines show it."""
    return host.check_output("sinfo -h -n gpu02 -o '%T|%E' | sort -u").replace("*|", "|")


def look(host: Host) -> str:
    """State and reason after a look as Slurm makes them."""
    host.check_output(f"SLURMD_NODENAME=gpu02 {HEALTH}")
    return state(host)


def in_service(host: Host) -> None:
    """What kept the node back is lifted, and no look goes on that may have seen it ill."""
    until(lambda: host.run("pgrep -f [/]slurm-health").rc == 1, PATIENCE_S, "no look goes on")
    until(lambda: host.run("scontrol update nodename=gpu02 state=undrain").rc == 0, PATIENCE_S, "it is undrained")


def written(host: Host, part: str) -> None:
    """A part, there at once and whole: a look may come at any time."""
    host.check_output("printf '%%s' %s > %s.new; chmod 755 %s.new; mv %s.new %s", part, PART, PART, PART, PART)


def test_slurm_has_the_check_and_it_finds_nothing(host: Host) -> None:
    told = host.check_output("scontrol show config")
    shown = dict(line.split("=", 1) for line in told.splitlines() if line.startswith("HealthCheck"))
    found = {key.strip(): value.strip() for key, value in shown.items()}
    assert found == {
        "HealthCheckInterval": "180 sec",
        "HealthCheckNodeState": "CYCLE,ANY",
        "HealthCheckProgram": HEALTH,
    }
    assert host.check_output(LOOK_NOW) == ""


STARTED = "scontrol show node gpu02 -o | grep -o 'SlurmdStartTime=[^ ]*'"


@pytest.mark.usefixtures("broken")
def test_slurmd_looks_before_it_registers_and_then_now_and_then(host: Host) -> None:
    """As long as the new slurmd has not registered, Slurm knows the start of the one before."""
    part = f"#!/bin/sh\n{STARTED} >> {LOOKS}\nexit 0\n"
    written(host, part)
    before = host.check_output(STARTED)
    host.check_output(f"systemctl stop slurmd; rm -f {LOOKS}; systemctl start slurmd")
    until(lambda: state(host) == f"drained|{NOT_MOUNTED}", PATIENCE_S, "it is drained")
    until(lambda: host.check_output(STARTED) != before, PATIENCE_S, "the new slurmd registered")
    assert host.check_output(f"head -n 1 {LOOKS}") == before
    host.check_output(f"mount -t tmpfs tmpfs {MOUNT}")
    until(lambda: state(host).startswith("idle"), PATIENCE_S, "it is let on again")


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("reason", ["power work", "drawbridge gate: not proven empty"])
def test_what_others_drained_keeps_its_reason_ill_or_well(host: Host, reason: str) -> None:
    # a look between asking Slurm and telling it would put its own reason in the other one's place
    until(lambda: look(host) == f"drained|{NOT_MOUNTED}", PATIENCE_S, "it is drained for its own reason")
    host.check_output(f"scontrol update nodename=gpu02 state=drain reason='{reason}'")
    for cure in ("true", f"mount -t tmpfs tmpfs {MOUNT}"):
        host.check_output(cure)
        assert look(host) == f"drained|{reason}"


@pytest.mark.usefixtures("broken")
def test_every_finding_is_reported(host: Host) -> None:
    written(host, "#!/bin/sh\necho rail3 is down >&2\nexit 1\n")
    host.check_output("mv /dev/nvidia7 /dev/kept7")
    try:
        said = host.run(LOOK_NOW)
    finally:
        host.check_output("mv /dev/kept7 /dev/nvidia7")
    assert said.rc == 1
    assert said.stdout.strip() == f"{MOUNT} is not mounted; 7 GPUs instead of 8; 50-test: rail3 is down"


def test_a_gpu_that_only_the_driver_misses_is_a_finding(host: Host) -> None:
    lab("fault", "gpu02", "nvidia-smi", "drift", "--match", "list-gpus", "--times", "0")
    try:
        said = host.run(LOOK_NOW)
    finally:
        lab("fault", "gpu02", "nvidia-smi", "--clear")
    assert said.stdout.strip() == "7 GPUs in the driver's list instead of 8"
    in_service(host)


def test_a_node_without_a_gate_returns_after_a_power_cut(host: Host) -> None:
    """Slurm keeps a lost node down until an administrator resumes it; here none does."""
    before = host.check_output(f"cat {LOOK}")
    returns = json.dumps({**json.loads(before), "returns": True})
    host.check_output(f"echo '{returns}' > {LOOK}; sync")
    lab("power-cut", "gpu02")
    # as slurmctld does itself after SlurmdTimeout
    lab("ssh", "ctl", "scontrol update nodename=gpu02 state=down reason='Not responding'")
    lab("up", "gpu02")
    until(lambda: state(host).startswith("idle"), PATIENCE_S, "it is in service again")
    host.check_output(f"echo '{before}' > {LOOK}")

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real hosts: cut off, reset, and removed without a trace, even after kill -9."""

import errno
import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.waiting import until

pytestmark = pytest.mark.live

NUMBER = int(os.environ.get("LAB_ID", "90"))
"""The lab that these tests may have; another one beside it has the next number."""
NETWORK, NEXT = f"10.77.{NUMBER}", f"10.77.{NUMBER + 1}"
LAB = REPOSITORY / "lab" / "lab"
PATIENCE_S, SSH_S, RUN_S = 300, 300, 900
SOON = ("-o", "ConnectTimeout=2")
"""For hosts that must not answer; one that should may have a machine with much else to do."""


class Lab:
    """One lab with a state directory of its own, used as a person uses it."""

    def __init__(self, number, state):
        self.environment = os.environ | {"LAB_ID": str(number), "LAB_STATE": str(state)}
        self.paths = Paths.of(self.environment)

    def start(self, *arguments):
        return subprocess.Popen(
            [LAB, *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, *arguments, code=0):
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=RUN_S)
        assert process.returncode == code, f"{arguments}: {out}{err}"
        return out + err

    def ssh(self, host, command, *options):
        argv = [
            "ssh",
            "-F",
            self.paths.ssh_config,
            *options,  # the first value counts
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=60",
            "-o",
            "ControlPath=none",
            host,
            command,
        ]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=SSH_S)

    def out(self, host, command):
        done = self.ssh(host, command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def traces(self):
        """Whatever a lab could leave on the machine."""
        number = self.paths.lab_id
        links = subprocess.run(["ip", "-json", "link"], capture_output=True, check=True, text=True).stdout
        return {
            "links": [link["ifname"] for link in json.loads(links) if link.get("group") == str(7700 + number)],
            "bridges": [
                name for name in (self.paths.bridge, self.paths.fabric) if Path("/sys/class/net", name).exists()
            ],
            "groups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/drawbridge-lab/{number}")],
            "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(self.paths.base) in line],
            "processes": processes(f"/drawbridge-lab/{number}/", str(self.paths.base)),
            "files": [str(path) for path in self.paths.base.glob("*")],
        }


def processes(group, state):
    """Command lines of living processes in the lab's control group or with its state directory among their arguments.

    A zombie is dead: it only waits for the machine's init to take note.
    """
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text().replace("\0", " ")
            zombie = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if not zombie and (group in (process / "cgroup").read_text() or state in line):
                found.append(line)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    room = Lab(NUMBER, tmp_path_factory.mktemp("state"))
    room.run("up", "login1", "nsd1")
    yield room
    room.run("down")


@pytest.fixture
def other(tmp_path):
    room = Lab(NUMBER + 1, tmp_path / "state")
    yield room
    room.run("down")


@pytest.fixture
def port_22_taken():
    """The machine listens on all its addresses, as most machines' own sshd does."""
    try:
        listener = socket.create_server(("", 22))
    except OSError as error:
        assert error.errno == errno.EADDRINUSE
        yield
        return
    with listener:
        yield


def test_power_comes_back_to_the_disk_as_it_was(lab):
    lab.out("nsd1", "echo kept > /root/note")
    lab.run("power-cut", "nsd1")
    assert lab.ssh("nsd1", "true", *SOON).returncode == 255
    assert ["nsd1", f"{NETWORK}.13", "nsd", "off"] in [line.split()[:4] for line in lab.run("status").splitlines()]
    lab.run("up", "nsd1")
    assert lab.out("nsd1", "cat /root/note") == "kept"


@pytest.mark.usefixtures("port_22_taken")
def test_a_switch_has_an_address_of_its_own(lab):
    """With its own key, which ssh checks; the machine's sshd is not in its way, nor taken for it."""
    lab.run("up", "leaf1")
    assert "hostname leaf1" in lab.out("leaf1", "show running-config")
    assert lab.out("login1", "timeout 60 bash -c 'head -c 4 < /dev/tcp/leaf1/22'") == "SSH-"
    lab.run("power-cut", "leaf1")
    assert lab.ssh("leaf1", "show version", *SOON).returncode == 255
    lab.run("up", "leaf1")
    assert "hostname leaf1" in lab.out("leaf1", "show running-config")


def test_a_reset_host_is_fresh_and_trusted_still(lab):
    lab.out("nsd1", "echo gone > /root/note")
    lab.run("reset", "nsd1")
    assert lab.ssh("nsd1", "cat /root/note").returncode == 1


def test_a_host_joins_a_running_lab_beside_another_lab(lab, other):
    other.run("up", "login1")
    said = lab.run("up", "infra1", "login1")
    assert "1 hosts and 0 switches are booting" in said
    assert lab.out("login1", "ping -c1 -W60 infra1 >/dev/null && echo there") == "there"
    assert other.ssh("login1", f"ping -c1 -W1 {NETWORK}.12").returncode != 0
    other.run("down")
    assert lab.out("login1", "hostname") == "login1"


MOMENTS = {
    "at once": lambda paths: True,
    "when the lab has a place": lambda paths: paths.state.exists(),
    "when a disk is written": lambda paths: paths.host("login1").disk.exists(),
    "when a host boots": lambda paths: paths.host("login1").console.exists(),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_nothing_is_left_after_a_kill(other, moment):
    """Before, while and after hosts are started; nothing is left either if the command was quicker than the kill."""
    with other.start("up", "login1", "nsd1", "leaf1") as process:
        until(lambda: MOMENTS[moment](other.paths), PATIENCE_S, moment)
        process.kill()
    other.run("down")
    assert not any(other.traces().values()), other.traces()


def test_a_lab_cut_short_can_be_taken_up_again(other):
    with other.start("up", "login1") as process:
        until(lambda: other.paths.host("login1").disk.exists(), PATIENCE_S, "a disk is written")
        process.kill()
    other.run("up", "login1")
    assert other.out("login1", "hostname") == "login1"


def test_a_taken_bridge_is_refused_before_anything_starts(other):
    subprocess.run(["ip", "link", "add", "foreign0", "type", "bridge"], check=True)
    try:
        subprocess.run(["ip", "address", "add", f"{NEXT}.9/24", "dev", "foreign0"], check=True)
        said = other.run("up", "login1", code=1)
    finally:
        subprocess.run(["ip", "link", "delete", "foreign0"], check=True)
    advice = f"choose another lab number, such as LAB_ID={(NUMBER + 2) % 100}"
    assert said == f"lab: {NEXT}.0/24 is used by foreign0: {advice}\n"
    assert not other.paths.state.exists()


def test_down_is_a_clean_end_and_may_be_said_twice(other):
    other.run("up", "login1", "spine1")
    assert other.traces()["processes"]
    other.run("down")
    assert not any(other.traces().values()), other.traces()
    other.run("down")

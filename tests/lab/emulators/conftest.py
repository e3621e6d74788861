# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a lab without the lab: emulated commands as subprocesses, their directories under tmp_path."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from lab.emulators.common import Device
from lab.emulators.storage.gpfs.software import MODULES

REPOSITORY = Path(__file__).parents[3]
TRANSCRIPTS = REPOSITORY / "tests/transcripts"


class Host:
    """One host: its commands, its devices, and the trees of /sys and /proc that the commands see."""

    launcher = REPOSITORY / "lab/emulators/launch"

    def __init__(self, root, name="gpu01"):
        self.root = root
        self.name = name
        self.directory = root / name
        self.shared = root / "shared"
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LAB_DEVICE_DIR": str(self.directory / "lab"),
            "LAB_SHARED_DIR": str(self.shared),
            "LAB_SYSFS": str(self.directory / "sys"),
            "LAB_PROCFS": str(self.directory / "proc"),
            "LAB_DEVFS": str(self.directory / "dev"),
            "LAB_HOSTNAME": name,
            "LAB_HOSTS_FILE": str(root / "hosts"),
            "LAB_MMFS_DIR": str(self.directory / "mmfs"),
            "LAB_LPP_DIR": str(self.directory / "lpp"),
            "LAB_MODULES_DIR": str(self.directory / "modules"),
            "LAB_RAS_DIR": str(self.directory / "ras"),
            "TZ": "UTC",
        }
        self.prefix = []
        for rail in range(8):
            (self.directory / f"sys/class/net/rail{rail}").mkdir(parents=True)
        (self.directory / "sys/class/net/eth0").mkdir()
        (self.directory / "bin").mkdir()
        (self.directory / "dev").mkdir()
        self.boot("first")
        self.run_kernel("6.12.1")
        for module in MODULES:
            (self.directory / "modules/6.12.1/extra").mkdir(parents=True, exist_ok=True)
            (self.directory / "modules/6.12.1/extra" / module).write_text("5.2.1-0\n")
        (self.directory / "proc/self").symlink_to("/proc/self")  # the mounts that a command sees are real

    def boot(self, boot_id):
        """Pretend that the host has booted."""
        path = self.directory / "proc/sys/kernel/random/boot_id"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self.name}-{boot_id}\n")

    def run_kernel(self, release):
        """Pretend that the host runs this kernel."""
        (self.directory / "proc/sys/kernel/osrelease").write_text(f"{release}\n")

    def argv(self, tool, *arguments):
        """Return the command line of an emulated tool, installed as the lab does it: a link to the launcher."""
        link = self.directory / "bin" / tool
        if not link.is_symlink():
            link.symlink_to(self.launcher)
        return [*self.prefix, str(link), *map(str, arguments)]

    def run(self, tool, *arguments, **options):
        """Run an emulated tool to its end."""
        options = {"env": self.environment, "capture_output": True, "text": True, "timeout": 120, **options}
        return subprocess.run(self.argv(tool, *arguments), check=False, **options)

    def start(self, tool, *arguments):
        """Start an emulated tool and return the process."""
        return subprocess.Popen(
            self.argv(tool, *arguments), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @contextlib.contextmanager
    def own_mounts(self):
        """Give the host mounts of its own: its commands run in one mount namespace until the block ends."""
        holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", "echo ready; exec sleep 600"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "ready\n"
            self.prefix = ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt"]
            yield self
        finally:
            self.prefix = []
            holder.kill()
            holder.communicate()

    def command(self, *argv):
        """Run an ordinary command on the host and return its output."""
        return subprocess.run([*self.prefix, *argv], capture_output=True, text=True, check=False, timeout=120).stdout

    def device(self, family):
        """Return a device of this host, to look at its state or to arm faults."""
        return Device(self.directory / "lab" / family, self.shared / "clock")


@contextlib.contextmanager
def open_directory():
    """Make a directory that every user can enter, which pytest's own are not: each pytest that starts closes them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session", autouse=True)
def opt_lab():
    """Install the emulators where every user can read them, as in a guest: a checkout may lie below /root."""
    with open_directory() as directory:
        shutil.copytree(REPOSITORY / "lab/emulators", directory / "lab", ignore=shutil.ignore_patterns("__pycache__"))
        Host.launcher = directory / "lab/launch"
        yield directory / "lab"


@pytest.fixture
def tmp_path():
    """Give each test a directory that any user of the emulated tools can enter."""
    with open_directory() as directory:
        yield directory


@pytest.fixture
def host(tmp_path):
    """One GPU node with eight rails."""
    return Host(tmp_path)


@pytest.fixture
def any_user():
    """Options for Host.run that make the caller an ordinary user."""
    assert os.getuid() == 0, "changing the user needs root, as the lab does"
    return {"user": 65534, "group": 65534, "extra_groups": []}


@pytest.fixture
def transcript():
    """Read a transcript without its first line, which says where it is from."""

    def read(name):
        provenance, _, text = (TRANSCRIPTS / name).read_text().partition("\n")
        assert provenance.startswith("# "), f"{name} doesn't say where it is from"
        return text

    return read

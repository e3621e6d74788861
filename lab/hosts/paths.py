# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where one lab keeps its things: files, bridges and control groups, all derived from its number."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError

REPOSITORY = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class HostPaths:
    """One host's directories. `disk` outlives a power cut, `keys` outlives a reset."""

    directory: Path

    @property
    def disk(self) -> Path:
        """The overlay's upper layer: what this host has written."""
        return self.directory / "disk"

    @property
    def work(self) -> Path:
        """The overlay's work directory."""
        return self.directory / "work"

    @property
    def root(self) -> Path:
        """Where the overlay is mounted, visible in the lab's mount namespace only."""
        return self.directory / "root"

    @property
    def volume(self) -> Path:
        """A virtual machine's disk: what it has written."""
        return self.directory / "volume"

    @property
    def emulators(self) -> Path:
        """State of this host's emulated devices: /var/lib/lab in the guest."""
        return self.directory / "emu"

    @property
    def installed(self) -> Path:
        """Present once the disk was written completely."""
        return self.directory / "installed.json"

    @property
    def console(self) -> Path:
        """What the guest printed on its console."""
        return self.directory / "console.log"


@dataclass(frozen=True)
class Paths:
    """One lab's places."""

    lab_id: int
    base: Path
    cache: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Paths:
        """From LAB_ID, LAB_STATE and LAB_CACHE; LabError when LAB_ID is no number from 0 to 99."""
        text = environment.get("LAB_ID", "1")
        if not (text.isascii() and text.isdigit() and int(text) <= 99):
            raise LabError(f"LAB_ID is {text!r}, but bridges and addresses are made of it: set a number from 0 to 99")
        base = Path(environment.get("LAB_STATE", "/var/lib/drawbridge-lab")).absolute()
        cache = Path(environment.get("LAB_CACHE", "/var/cache/drawbridge-lab")).absolute()
        return cls(int(text), base, cache)

    @property
    def state(self) -> Path:
        """Everything that this lab writes; `lab down` removes it."""
        return self.base / str(self.lab_id)

    @property
    def lock(self) -> Path:
        """Held by every command that changes the lab. Beside the state, since `lab down` removes that."""
        return self.base / f"{self.lab_id}.lock"

    @property
    def user_key(self) -> Path:
        """The private key that root and the user `ansible` of every host accept, and every switch's `admin`."""
        return self.state / "ssh_key"

    @property
    def known_hosts(self) -> Path:
        """Every host's and switch's public key, for strict checking."""
        return self.state / "known_hosts"

    @property
    def ssh_config(self) -> Path:
        """What `ssh -F` needs to reach everything by name."""
        return self.state / "ssh_config"

    def host_key(self, name: str) -> Path:
        """The private host key of a host or switch; its public half lies beside it."""
        return self.state / "host_keys" / name

    @property
    def shared(self) -> Path:
        """What all hosts share: /var/lib/lab-shared in the guests."""
        return self.state / "shared"

    @property
    def clock(self) -> Path:
        """Seconds that the emulators' clock is ahead."""
        return self.shared / "clock"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, once the lab has a control plane."""
        return self.state / "kubernetes" / "admin.kubeconfig"

    @property
    def installer_kubeconfig(self) -> Path:
        """The kubeconfig that runs of Ansible use."""
        return self.state / "kubernetes" / "installer.kubeconfig"

    def host(self, name: str) -> HostPaths:
        """A host's directories."""
        return HostPaths(self.state / "hosts" / name)

    def switch(self, name: str) -> Path:
        """An emulated switch's state directory."""
        return self.state / "switches" / name

    @property
    def bridge(self) -> str:
        """The management bridge: the machine, all hosts and all switches have an address on it."""
        return f"dblab{self.lab_id}"

    @property
    def fabric(self) -> str:
        """The bridge that the rails are plugged into."""
        return f"dbfab{self.lab_id}"

    @property
    def cgroup(self) -> Path:
        """The lab's control group, relative to the root of the cgroup2 hierarchy."""
        return Path("drawbridge-lab") / str(self.lab_id)

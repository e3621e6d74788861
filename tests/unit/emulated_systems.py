# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The systems of emulated switches, and how one starts."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

from lab.emulators.fabric.data_model import leaves
from lab.emulators.fabric.junos import statements
from lab.emulators.fabric.sonic import configdb
from tests.unit.emulated_switch import FRONT, PORTS, ROOT, Emulated, Leaf


class Cumulus(Emulated):
    """A switch with Cumulus Linux, which saves by itself."""

    system = "nvue"
    prepares = ()
    opens, closes = (), ("nv config apply -y",)
    running, waits = "applied", "confirm"

    @classmethod
    def lines_of(cls, configuration: Any) -> list[str]:
        """What runs, as `nv config show -o commands` prints it, port by port."""
        return sorted(f"{' '.join(path)}{'' if value == {} else f' {value}'}" for path, value in leaves(configuration))


class Cumulus9(Cumulus):
    """A switch with the oldest release of Cumulus Linux, which shows the state of one port at a time."""

    version = "5.9.0"


class Sonic(Emulated):
    """A switch with SONiC."""

    system = "sonic"
    prepares = ()
    waits = "units"

    @classmethod
    def configure(cls, state: dict[str, Any], lines: tuple[str, ...], now: float) -> None:
        """Put `TABLE|KEY field value`, or the platform's own classes, into ConfigDB, and save it."""
        del now
        for line in lines:
            if line == "config qos reload":
                configdb.azure(state["running"])
                continue
            path, *pair = line.split(" ", 2)
            table, _sep, key = path.partition("|")
            state["running"].setdefault(table, {}).setdefault(key, {}).update([pair] if pair else [])
        state["saved"] = copy.deepcopy(state["running"])

    @classmethod
    def lines_of(cls, configuration: Any) -> list[str]:
        """The fields of all entries."""
        return sorted(f"{path[0]}|{' '.join(path[1:])} {value}" for path, value in leaves(configuration))


class Sonic24(Sonic):
    """A switch with the oldest release of SONiC, whose updater refuses patches of WRED profiles."""

    version = "202405.1-04a1c8c22"


class Nexus(Emulated):
    """A Nexus 9000 switch."""

    system = "nxos"
    closes = ("end", "copy running-config startup-config")


class Nexus9(Nexus):
    """A Nexus 9000 switch with NX-OS 9.3, which has no two-stage commits."""

    version = "9.3(13)"

    @classmethod
    def lines_of(cls, configuration: Any) -> list[str]:
        """What runs, without the feature that a change leaves on."""
        return [line for line in super().lines_of(configuration) if line != "feature scheduler"]

    def waiting(self) -> bool:
        """Whether a schedule has its time before it."""
        return any("time start" in line for line in self.lines())


class Junos(Emulated):
    """A QFX switch."""

    system = "junos"
    prepares = ("set cli screen-width 511", "set cli complete-on-space off", "set cli screen-length 0")
    opens, closes = ("configure",), ("commit", "exit")
    running = "active"

    @classmethod
    def lines_of(cls, configuration: Any) -> list[str]:
        """The configuration in force, as `show configuration | display set` prints it."""
        return statements.printed(configuration)


class PowerSwitch(Emulated):
    """A Dell switch with OS10."""

    system = "os10"
    prepares = ("terminal length 0",)
    waits = "candidates"


KINDS: dict[str, type[Emulated]] = {
    "leaf": Leaf,
    "cumulus": Cumulus,
    "cumulus9": Cumulus9,
    "sonic": Sonic,
    "sonic24": Sonic24,
    "nexus": Nexus,
    "nexus9": Nexus9,
    "junos": Junos,
    "os10": PowerSwitch,
}


def start(fixture: str, folder: Path, processes: list[subprocess.Popen[str]]) -> Emulated:
    """A switch; once a test asks for SSH, a server on a free port of loopback runs, and is added to the processes."""

    def serve(switch: Emulated) -> int:
        process = server(switch.system, folder, switch.version)
        processes.append(process)
        assert process.stdout
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        public = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
        return port

    return KINDS[fixture](folder / "leaf1", folder, serve)


def server(system: str, folder: Path, version: str = "") -> subprocess.Popen[str]:
    """The SSH server of a switch, with new keys; it says on which port it listens."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    arguments = {
        "--name": "leaf1",
        "--listen": "127.0.0.1:0",
        "--directory": str(folder / "leaf1"),
        "--clock": str(folder / "clock"),
        "--host-key": str(folder / "host"),
        "--authorized-key": str(folder / "user.pub"),
        "--platform": FRONT[system][0],
        "--port-count": str(PORTS),
        "--release": version,
    }
    command = [sys.executable, "-m", "lab.emulators.fabric", system]
    command += [word for pair in arguments.items() for word in pair]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

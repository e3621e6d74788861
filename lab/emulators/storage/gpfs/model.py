# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A cluster's state, and what one host knows of it.

The state is one JSON object under the shared directory. What a host keeps on its own disk, and loses when it is
rebuilt, is `gen/mmsdrfs`.

Each cluster has a founding member and is named after it. Hosts join the cluster of nsd1; a host of another cluster has
that cluster's name on its own disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...common import DIE, LIE, boot_id, procfs, shared_device, shared_directory
from . import software
from .disks import bind_missing
from .states import CLUSTER, FOUNDER, addresses, local_copy, new_member, public_key
from .text import say

if TYPE_CHECKING:
    from ...common import Device

Item = TypeVar("Item")
NOT_A_MEMBER = "This node does not belong to a GPFS cluster."
SYSTEM_CLASSES = ("all", "clientLicense", "serverLicense", "quorumNodes", "managerNodes", "nsdNodes", "clientNodes")
POWERLESS = "powerless"
"""Folder below the shared directory with a file for each host whose power `lab` has cut."""


class Failed(Exception):
    """The command fails: each argument is a line after the command's name, on stderr; exit code 1."""

    rc = 1


class Bare(Failed):
    """The program behind the command fails: its lines on stderr lack the command's name; `rc` is the exit code."""

    def __init__(self, *lines: str, rc: int = 1) -> None:
        """Take the lines."""
        super().__init__(*lines)
        self.rc = rc


def founder_here() -> str:
    """Return the founder of the cluster that this host has on its disk; nsd1 if it has none."""
    text = local_file().read_text() if local_file().exists() else ""
    return text.rstrip("\n").rpartition(CLUSTER)[2] if CLUSTER in text else FOUNDER


def cluster_device(founder: str) -> Device:
    """Return the device of a founder's cluster."""
    return shared_device("gpfs" if founder == FOUNDER else f"gpfs-{founder}")


def local_file() -> Path:
    """Return the place of this host's copy of the configuration."""
    return software.mmfs() / "gen/mmsdrfs"


class Cluster:
    """The cluster as the calling host deals with it, during one command."""

    def __init__(self, state: dict[str, Any], device: Device, command: str, effect: str | None = None) -> None:
        """Take the state, locked by the caller, the shared device, the command's name and the fault to act out."""
        self.state = state
        self.device = device
        self.command = command
        self.effect = effect
        self.me = os.environ.get("LAB_HOSTNAME") or os.uname().nodename.partition(".")[0]
        self.nodes: dict[str, dict[str, Any]] = state["nodes"]
        self.requests: list[str] = []
        self.local_file = local_file()

    # What this host knows

    def arrive(self, *, by_command: bool = True) -> None:
        """Catch up with what happened to this host: a boot, a pushed configuration, a file system unmounted by hand.

        Only commands use up the lag of a pushed configuration; the daemon looks too often for that.
        """
        if self.state["boots"].get(self.me) != boot_id():
            self._booted()
        if self.me in self.state["removals"]:
            self.local_file.unlink(missing_ok=True)
            self.state["removals"].remove(self.me)
        push = self.state["pushes"].get(self.me)
        if push == 0:
            self.write_local()
            del self.state["pushes"][self.me]
        elif push and by_command:
            self.state["pushes"][self.me] = push - 1
        self._configuration_lost(push is None and self.me in self.nodes and not self.local_file.exists())
        self._modules_checked()
        for device, mounted in self.state["mounts"].items():
            if self.me in mounted and not self.is_mounted(mounted[self.me]["path"]):
                del self.state["mounts"][device][self.me]

    def _configuration_lost(self, lost: bool) -> None:
        """Let the others know whether this member has lost its copy of the configuration."""
        known = self.state["unconfigured"]
        if lost and self.me not in known:
            known.append(self.me)
            self.state["daemons"][self.me] = {"state": "down", "polls": 0}
        if not lost and self.me in known:
            known.remove(self.me)

    def _modules_checked(self) -> None:
        """Stop a daemon that another host started and that has no kernel modules here."""
        daemon = self.state["daemons"].get(self.me, {})
        if daemon.pop("unchecked", False) and self.modules_missing():
            daemon.update(state="down")

    def modules_missing(self) -> bool:
        """Say whether this host's kernel modules don't fit, and write that to GPFS's log."""
        why = software.misfit(self.state["version"])
        if why:
            software.log(self.now(), why)
        return bool(why)

    def _booted(self) -> None:
        """Forget what a boot ends. The first contact ever is no boot: what others said of this host stays true."""
        known = self.me in self.state["boots"]
        self.state["boots"][self.me] = boot_id()
        if not known:
            return
        for mounted in self.state["mounts"].values():
            mounted.pop(self.me, None)
        if self.me in self.state["daemons"]:
            self.state["daemons"][self.me] = {"state": "down", "polls": 0}
            if self.me in self.state["autoload"] or self.setting("autoload", self.me) == "yes":
                self.start(self.me)

    def start(self, name: str) -> None:
        """Start the daemon of a host."""
        daemon = self.state["daemons"][name]
        daemon.update(state="arbitrating", polls=0, automount=True, unchecked=True)
        daemon["effective"] = {entry["name"]: self.setting(entry["name"], name) for entry in self.state["config"]}

    def setting(self, attribute: str, node: str) -> str:
        """Return the configured value of an attribute on a node, "" for none. The most specific scope wins."""
        values = ["", "", ""]
        for entry in self.state["config"]:
            if entry["name"] == attribute and (rank := self._rank(entry["scope"], node)) is not None:
                values[rank] = entry["value"]
        return next((value for value in reversed(values) if value), "")

    def in_scope(self, scope: list[str], node: str) -> bool:
        """Say whether a setting with this scope is for a node."""
        return self._rank(scope, node) is not None

    def _rank(self, scope: list[str], node: str) -> int | None:
        """Return 0 for all nodes, 1 for a class of the node, 2 for the node itself, None for others."""
        if not scope:
            return 0
        if node in scope:
            return 2
        return 1 if any(name not in self.nodes and node in self.select(name) for name in scope) else None

    def write_local(self) -> None:
        """Put the cluster's configuration and its public key on this host's disk."""
        self.local_file.parent.mkdir(parents=True, exist_ok=True)
        self.local_file.write_text(local_copy(self.state))
        keys = software.mmfs() / "ssl"
        keys.mkdir(exist_ok=True)
        for name in ("id_rsa.pub", "id_rsa_committed.pub"):
            (keys / name).write_text(public_key(self.state, self.state["key"]["committed"]))

    def require_member(self) -> None:
        """Fail as every mm* command does on a host that knows no cluster."""
        known = self.local_file.exists() and self.state["id"] in self.local_file.read_text()
        if not known or self.me not in self.nodes:
            raise Failed(NOT_A_MEMBER)

    def require_admin(self) -> None:
        """Fail on a member that may not run commands on the others: adminMode is central."""
        self.require_member()
        if self.me not in self.state["admin_nodes"]:
            others = [name for name in self.nodes if name != self.me]
            say((f"{name}:  Permission denied (publickey,password)." for name in others), sys.stderr)
            raise Failed("Make sure that the following nodes are available:\n\t" + "\n\t".join(others))

    def founder(self) -> str:
        """Return the node that keeps the configuration."""
        quorum = (name for name, node in self.nodes.items() if "quorum" in node["designation"])
        return next(quorum, self.state["primary"])

    def now(self) -> float:
        """Return the lab's time."""
        return self.device.now()

    # Nodes

    def find(self, name: str) -> str | None:
        """Return the member that answers to a name or an address."""
        short = name.partition(".")[0] if not name.replace(".", "").isdigit() else name
        for member, node in self.nodes.items():
            if name in (member, node["daemon"], node["admin"], node["ip"]) or short == member.partition(".")[0]:
                return member
        return None

    def select(self, argument: str | None, all_nodes: bool = False) -> list[str]:
        """Return the members that -N (names, a file or a system class) or -a stand for; none given is this host."""
        if all_nodes or argument == "all":
            return list(self.nodes)
        if argument is None:
            return [self.me]
        if argument in SYSTEM_CLASSES:
            return [name for name in self.nodes if self._in_class(argument, name)]
        if argument in self.state["classes"]:
            return list(self.state["classes"][argument])
        names = [self.find(name) or name for name in listed(argument)]
        wrong = [name for name in names if name not in self.nodes]
        if wrong:
            raise Failed(*(f"Incorrect node {name} specified for command." for name in wrong))
        return names

    def _in_class(self, title: str, name: str) -> bool:
        node = self.nodes[name]
        return {
            "clientLicense": node["license"] == "client",
            "serverLicense": node["license"] == "server",
            "quorumNodes": "quorum" in node["designation"],
            "managerNodes": "anager" in node["designation"],
            "nsdNodes": name == self.state["primary"],
            "clientNodes": "anager" not in node["designation"],
        }[title]

    def half(self, work: list[Item]) -> list[Item]:
        """Return the part of the work that a command does before it dies: all of it when it doesn't die."""
        return work[: (len(work) + 1) // 2] if self.effect == DIE else work

    def reachable(self, name: str) -> bool:
        """Say whether the admin's shell gets to a host: not to one without power."""
        off = (shared_directory() / POWERLESS / name).exists()
        return name == self.me or (name in addresses() and not off and name not in self.state["unreachable"])

    def manageable(self, name: str) -> bool:
        """Say whether commands for a member reach it and find GPFS and its configuration there."""
        return self.reachable(name) and self.installed(name) and name not in self.state["unconfigured"]

    def installed(self, name: str) -> bool:
        """Say whether a host has GPFS's packages."""
        folder = shared_directory() / "gpfs-installed"
        known = not folder.is_dir() or (folder / name).exists()
        return known and name not in self.state["without_packages"]

    def of_others(self, name: str) -> bool:
        """Say whether a host belongs to another cluster."""
        own = self.state["id"]
        others = [json.loads(path.read_text()) for path in shared_directory().glob("gpfs*/state.json")]
        return name in self.state["foreign"] or any(name in it["nodes"] for it in others if it["id"] != own)

    def add(self, name: str, admin: str, designation: str, license_: str) -> None:
        """Make a host a member; its own copy of the configuration follows later."""
        self.nodes[name] = new_member(self.state["next_number"], name, admin, designation, license_)
        self.state["next_number"] += 1
        self.state["daemons"][name] = {"state": "down", "polls": 0}

    def remove(self, name: str) -> None:
        """End the membership of a host."""
        for table in (self.nodes, self.state["daemons"], self.state["pushes"], *self.state["mounts"].values()):
            table.pop(name, None)
        for members in self.state["classes"].values():
            if name in members:
                members.remove(name)

    # Work on the mounts of this host, and requests to the daemons of others

    def is_mounted(self, path: str) -> bool:
        """Say whether something is mounted there on this host."""
        lines = (procfs() / "self/mounts").read_text().splitlines()
        return any(line.split()[1] == path for line in lines)

    def mount_here(self, device: str, path: str, mode: str) -> tuple[int, list[str]]:
        """Mount the directory that stands for the file system, which all hosts share."""
        if self.effect == LIE or self.is_mounted(path):
            return 0, []
        content = shared_directory() / "fs" / self.content_of(device)
        content.mkdir(parents=True, exist_ok=True)
        Path(path).mkdir(parents=True, exist_ok=True)
        # with the filesets that are linked now, and as a slave, which gets those that will be
        rc, lines = _command("mount", "--rbind", *(["-o", "ro"] if mode == "RO" else []), str(content), path)
        if rc == 0:
            _command("mount", "--make-rslave", path)
            self.state["mounts"][device][self.me] = {"path": path, "mode": mode}
        return rc, lines

    def content_of(self, device: str) -> str:
        """Return the folder of a file system: the clusters that mount it remotely share it with its owner."""
        remote = self.state["remote_filesystems"].get(device)
        founder, name = (remote["cluster"].rpartition(CLUSTER)[2], remote["remote"]) if remote else ("", device)
        founder = founder or self.state["name"].rpartition(CLUSTER)[2]
        return name if founder in ("", FOUNDER) else f"{founder}-{name}"

    def unmount_here(self, device: str, force: bool) -> tuple[int, list[str]]:
        """Unmount a file system; with force, users of it are left with a dead one."""
        mounted = self.state["mounts"][device].get(self.me)
        if not mounted or self.effect == LIE:
            return 0, []
        rc, lines = _command("umount", "--recursive", *(["--lazy"] if force else []), mounted["path"])
        if rc == 0:
            del self.state["mounts"][device][self.me]
        else:
            bind_missing(shared_directory() / "fs" / self.content_of(device), mounted["path"])
        return rc, lines

    def request(self, node: str, action: str, *arguments: object) -> None:
        """Ask another host's daemon for work; `wait_for_requests` collects the answer."""
        number = str(self.state["next_request"])
        self.state["next_request"] += 1
        self.state["requests"][number] = {"node": node, "action": action, "arguments": list(arguments)}
        self.requests.append(number)

    def wait_for_requests(self) -> int:
        """Wait until the other hosts have answered, or long enough; print what they said; return the worst code."""
        if self.effect == LIE:
            return 0
        begun = time.monotonic()
        worst, waiting = 0, list(self.requests)
        while waiting:
            with self.device.state() as state:
                late = time.monotonic() - begun > state["request_timeout_s"]  # tests end the wait
                for number in list(waiting):
                    request = state["requests"][number]
                    if "rc" not in request and not late:
                        continue
                    lines = request.get("lines", ["The remote command did not complete in time."])
                    worst = max(worst, request.get("rc", 1))
                    say((f"{request['node']}:  {line}" for line in lines), sys.stderr)
                    del state["requests"][number]
                    waiting.remove(number)
            time.sleep(0.02 if waiting else 0)
        return worst


def listed(argument: str) -> list[str]:
    """Return the words of -N: the lines of a file when there is one of that name, else a list with commas."""
    if "," in argument or not Path(argument).is_file():  # a long list is no valid name of a file
        return [word for word in argument.split(",") if word]
    lines = [line.partition("#")[0].strip() for line in Path(argument).read_text().splitlines()]
    return [line for line in lines if line]


def _command(*argv: str) -> tuple[int, list[str]]:
    result = subprocess.run(argv, capture_output=True, text=True, check=False, env={"PATH": os.defpath, "LC_ALL": "C"})
    return result.returncode, (result.stdout + result.stderr).splitlines()

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RDMA network devices through ip, ethtool and sysctl, and what configures them through networkctl and nmcli."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...core.file_entry import Entry
from .managers import (
    DISPATCHER,
    NETWORK_MANAGER,
    NETWORK_MANAGER_FILE,
    NETWORKD,
    NETWORKD_DROP_IN,
    NETWORKD_ROUTES,
    Owner,
)
from .plan import PAUSES, RINGS, Change, NicLink, NicLinks
from .routes import Routing, address, routes, rules
from .text import devices, port_settings, profile_mtu, profiles, sources

ROOT = ""
"""A prefix of the paths of our files, for tests."""


class NicDevices:
    """The network devices of `want`."""

    name = "RDMA network devices"

    def __init__(self, run: Run, want: NicLinks) -> None:
        self._run, self._want, self._wanted = run, want.links, want.settings
        self._tables = [rail.table for rail in want.rails.values()]

    def read(self) -> NicLinks:
        """MTU and owner of every wanted device, and our files. Raises DeviceError for a device that is missing."""
        there = devices(self._run(["ip", "-j", "-d", "addr", "show"]).out)
        if missing := [name for name in self._want if name not in there]:
            raise DeviceError(
                f"interfaces is {list(self._want)}, but this host has no {', '.join(missing)};"
                " correct nics.netdev of the node's class in drawbridge_nodes, or load the NIC's driver"
            )
        running = self._managers()
        found = self._sources() if NETWORKD in running else {}
        owners = {**self._profiles(running), **{name: Owner(NETWORKD, source) for name, source in found.items()}}
        links = {name: self._link(there[name], owners.get(name, Owner())) for name in self._want}
        return NicLinks(links, self._files(), found, self._settings(), self._routing())

    def apply(self, steps: Sequence[Step[NicLinks]]) -> None:
        """Write the files, then set each MTU. NetworkManager reads its file again; that reconfigures no device."""
        for step in steps:
            change = step.payload
            if change.setting:
                self._set(change)
            elif change.ip:
                self._run(["ip", *change.ip])
            elif change.mtu:
                self._run(["ip", "link", "set", "dev", change.name, "mtu", str(change.mtu)])
            elif change.text is None:
                files.remove(ROOT + change.name)
            else:
                mode = "0755" if change.name == DISPATCHER else "0644"
                files.write(ROOT + change.name, Entry(change.text, mode=mode))
        if any(step.payload.name == NETWORK_MANAGER_FILE for step in steps):
            self._run(["nmcli", "general", "reload", "conf"])

    def _routing(self) -> Routing:
        """Rules and routes with the numbers of the rails; without any, nothing is read."""
        if not self._tables:
            return Routing()
        shown = [
            json.loads(self._run(["ip", "-N", "-j", "-4", *words.split()]).out)
            for words in ("rule show", "route show table all")
        ]
        return Routing(rules(shown[0], self._tables), routes(shown[1], self._tables))

    def _settings(self) -> dict[tuple[str, str], str]:
        """The wanted ones, as they are."""
        found: dict[tuple[str, str], str] = {}
        for (name, key), options in ((it, _option(it[1])) for it in self._wanted):
            if not options:
                found[name, key] = _sysctl(name, key)
            elif (name, key) not in found:
                found.update(((name, it), value) for it, value in self._port(name, key, options[0]).items())
        return found

    def _port(self, name: str, key: str, option: str) -> dict[str, str]:
        """Both pauses, or both rings, of a port. A driver without pause has none to switch off."""
        try:
            values = port_settings(self._run(["ethtool", "--json", option, name]).out)
        except DeviceError as err:
            if key not in PAUSES or "Operation not supported" not in str(err):
                raise
            values = dict.fromkeys(PAUSES, "off")
        return {it: values[it] for it in (PAUSES if key in PAUSES else RINGS)}

    def _set(self, change: Change) -> None:
        if options := _option(change.setting):
            # older releases end with 78 or 79 when a value stays; the next reading decides
            way = change.setting.rpartition(" ")[2]
            self._run(["ethtool", options[1], change.name, way, change.value], ok=(0, 78, 79))
        else:
            _sysctl(change.name, change.setting, change.value)

    def _managers(self) -> set[str]:
        """Which managers run; systemctl's exit code says only whether all do."""
        names = [NETWORKD, NETWORK_MANAGER]
        states = self._run(["systemctl", "is-active", *names], ok=(0, 3, 4)).out.split()
        return {name for name, state in zip(names, states) if state == "active"}

    def _sources(self) -> dict[str, str]:
        return sources(self._run(["networkctl", "--no-pager", "--lines=0", "--all", "status"]).out)

    def _profiles(self, running: set[str]) -> dict[str, Owner]:
        if NETWORK_MANAGER not in running or not shutil.which("nmcli"):
            return {}
        there = profiles(self._run(["nmcli", "-t", "-f", "DEVICE,STATE,CON-UUID", "device"]).out)
        ours = {name: profile for name, profile in there.items() if name in self._want}
        return {name: Owner(NETWORK_MANAGER, profile, self._profile_mtu(profile)) for name, profile in ours.items()}

    def _profile_mtu(self, profile: str) -> int:
        return profile_mtu(self._run(["nmcli", "-g", "802-3-ethernet.mtu", "connection", "show", profile]).out)

    def _files(self) -> dict[str, str]:
        places = Path(f"{ROOT}/etc/systemd/network")
        found = [str(path) for it in (NETWORKD_DROP_IN, NETWORKD_ROUTES) for path in places.glob(f"*.network.d/{it}")]
        entries = {path: files.read(path) for path in [*found, ROOT + NETWORK_MANAGER_FILE, ROOT + DISPATCHER]}
        return {path[len(ROOT) :]: entry.content or "" for path, entry in entries.items() if entry}

    @staticmethod
    def _link(raw: dict[str, Any], owner: Owner) -> NicLink:
        return NicLink(
            int(raw["mtu"]),
            int(raw.get("max_mtu", 0)),
            raw.get("operstate") != "DOWN",
            owner,
            address(raw.get("addr_info", ())),
            off="UP" not in raw.get("flags", ("UP",)),
        )


def _option(setting: str) -> tuple[str, str] | None:
    """ethtool's options that read and set it; None for a setting of the kernel's own."""
    return ("-a", "-A") if setting in PAUSES else ("-g", "-G") if setting in RINGS else None


def _sysctl(device: str, name: str, value: str = "") -> str:
    """Read a setting of the device's IPv4, after writing it if there is a value. Raises DeviceError."""
    path = Path(f"{ROOT}/proc/sys/net/ipv4/conf/{device}/{name}")
    try:
        if value:
            write(path, value)
        return path.read_text().strip()
    except OSError as err:
        raise DeviceError(f"{path}: {err.strerror}") from err


def write(path: Path, value: str) -> None:
    """Write one value as a line. The kernel refuses by an error number. Raises OSError."""
    path.write_text(f"{value}\n")

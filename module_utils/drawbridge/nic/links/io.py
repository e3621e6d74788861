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
from ..naming import named
from .managers import (
    DISPATCHER,
    NETWORK_MANAGER,
    NETWORK_MANAGER_FILE,
    NETWORKD,
    NETWORKD_DROP_IN,
    NETWORKD_ROUTES,
    Owner,
)
from .plan import Change, NicLink, NicLinks
from .routes import Routing, address, routes, rules
from .settings_io import DeviceSettings
from .text import devices, profile_mtu, profiles, sources

ROOT = ""
"""A prefix of the paths of our files, for tests."""


class NicDevices:
    """The network devices of `want`."""

    name = "RDMA network devices"

    def __init__(self, run: Run, want: NicLinks) -> None:
        self._run, self._want, self._wanted = run, want.links, want.settings
        self._whole, self._settings = want.whole, DeviceSettings(run, ROOT)
        self._tables = [rail.table for rail in want.rails.values()]

    def read(self) -> NicLinks:
        """MTU and owner of every wanted device, and our files. Raises DeviceError for a device that is missing."""
        there = devices(self._run(["ip", "-j", "-d", "addr", "show"]).out)
        if missing := [name for name in self._want if name not in there]:
            raise DeviceError(
                f"interfaces is {list(self._want)}, but this host has no {', '.join(missing)};"
                " correct nics.netdev of the node's class in drawbridge_nodes, or load the NIC's driver"
            )
        running = self._managers() if self._whole else set()
        found = self._sources() if NETWORKD in running else {}
        owners = {**self._profiles(running), **{name: Owner(NETWORKD, source) for name, source in found.items()}}
        links = {name: self._link(there[name], owners.get(name, Owner())) for name in self._want}
        files_now = self._files() if self._whole else {}
        return NicLinks(links, files_now, found, self._settings.read(self._wanted), self._routing())

    def apply(self, steps: Sequence[Step[NicLinks]]) -> None:
        """Write the files, then set each MTU. NetworkManager reads its file again; that reconfigures no device."""
        for step in steps:
            with named(step):
                self._do(step.payload)
        if any(step.payload.name == NETWORK_MANAGER_FILE for step in steps):
            self._run(["nmcli", "general", "reload", "conf"])

    def _do(self, change: Change) -> None:
        if change.setting:
            self._settings.write(change.name, change.setting, change.value)
        elif change.ip:
            self._run(["ip", *change.ip])
        elif change.mtu:
            self._run(["ip", "link", "set", "dev", change.name, "mtu", str(change.mtu)])
        elif change.text is None:
            files.remove(ROOT + change.name)
        else:
            mode = "0755" if change.name == DISPATCHER else "0644"
            files.write(ROOT + change.name, Entry(change.text, mode=mode))

    def _routing(self) -> Routing:
        """Rules and routes with the numbers of the rails; without any, nothing is read."""
        if not self._tables:
            return Routing()
        shown = [
            json.loads(self._run(["ip", "-N", "-j", "-4", *words.split()]).out)
            for words in ("rule show", "route show table all")
        ]
        return Routing(rules(shown[0], self._tables), routes(shown[1], self._tables))

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

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a node's RDMA NICs, from sysfs, ethtool and the readers of the other modules."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.command import Run
from ...core.converge import DeviceError
from ...core.cpus import cpu_ranges
from ...nodes.port_counters import counters, missing, priorities
from ..backends_io import backends, read
from ..links.pcie import ORDERING, PCIE, READ_REQUEST
from ..links.settings import RINGS
from ..links.settings_io import DeviceSettings
from ..links.text import global_pause
from ..plan import NicPortQos
from ..queues import PRIORITIES, shared
from ..roce import plan as roce
from ..roce.io import RdmaDevices

ROOT = ""
"""A prefix of sysfs, for tests."""


EVERYTHING = NicPortQos("", dict.fromkeys(range(64), 0), frozenset(), queues=shared({0: 1}), cable_m=1)
"""QoS whose every part is read."""


class NicStates:
    """Reads NICs. A part that can't be read is absent, and `unknown` of the NIC has the reason."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def read(self, devices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Every RDMA device by its network device."""
        return {device["netdev"]: self._nic(device["netdev"], device["ports"]) for device in devices}

    def _nic(self, netdev: str, ports: Sequence[str]) -> dict[str, Any]:
        unknown: list[str] = []
        found: dict[str, Any] = {"unknown": unknown}
        if not _net(netdev).is_dir():
            unknown.append(f"this host has no {netdev}")
            return found
        with _noted(unknown):
            found.update(self._rdma(netdev, ports))
        if rdma := found.get("rdma"):
            port = Path(f"{ROOT}/sys/class/infiniband/{rdma}/ports/1")
            found["counters"] = {**_numbers(port / "counters"), **_numbers(port / "hw_counters")}
            found["state"], found["rate"] = (_text(port / name) for name in ("state", "rate"))
        found["ports"] = {port: self._port(port, unknown) for port in ports}
        return found

    def _rdma(self, netdev: str, ports: Sequence[str]) -> dict[str, Any]:
        """Name, GID and settings, by the reader of nic_roce; the wanted values only name the settings."""
        group = {"tos": 0, "cnp_dscp": 0, "cnp_priority": 0, "ecn_priorities": PRIORITIES, "needs_gid": False}
        want = roce.wanted([{**group, "devices": [{"netdev": netdev, "rdma": "", "ports": ports}]}])
        device = RdmaDevices(self._run, want).read().devices[netdev]
        settings: dict[str, dict[str, str]] = {}
        for (scope, name), value in device.settings.items():
            settings.setdefault(scope or "rdma_cm", {})[name.lower().replace(" ", "_")] = value
        return {"rdma": device.rdma, "gid": device.gid, "roce": settings}

    def _port(self, port: str, unknown: list[str]) -> dict[str, Any]:
        base = _net(port)
        found: dict[str, Any] = {"up": _text(base / "operstate") == "up"}
        for name, key in (("mtu", "mtu_bytes"), ("carrier_changes", "carrier_changes")):
            if (text := _text(base / name)).isdigit():
                found[key] = int(text)
        with _noted(unknown):
            found["qos"] = self._qos(port)
        with _noted(unknown):
            printed = self._run(["ethtool", "-S", port]).out
            found.update(counters=counters(printed), priorities=priorities(printed))
            if lacks := missing(found["priorities"]):
                unknown.append(f"{port}: {lacks} are not in the answer to 'ethtool -S {port}'")
        with _noted(unknown):
            found["global_pause"] = global_pause(self._run(["ethtool", "-a", port]).out)
        with _noted(unknown):
            found["rings"] = {key.split()[1]: int(value) for key, value in self._settings(port, RINGS).items()}
        with _noted(unknown):
            registers = self._settings(port, PCIE)
            size, ordering = registers[READ_REQUEST], registers[ORDERING]
            found["pcie"] = {"read_request_bytes": int(size), "relaxed_ordering": ordering}
        found["numa_node"] = _text(base / "device/numa_node")
        found["interrupt_cpus"] = cpu_ranges(DeviceSettings(self._run, ROOT).interrupt_cpus(port))
        if temperatures := [_text(path) for path in sorted((base / "device/hwmon").glob("*/temp1_input"))]:
            # hwmon counts in thousandths
            found["temperature_c"] = int(temperatures[0]) / 1000
        return found

    def _settings(self, port: str, keys: Sequence[str]) -> dict[str, str]:
        """Settings by name, by the reader of nic_link."""
        found = DeviceSettings(self._run, ROOT).read({(port, key): "" for key in keys})
        return {key: value for (_unused, key), value in found.items()}

    def _qos(self, port: str) -> dict[str, Any]:
        backend, qos = read(backends(self._run), port, EVERYTHING)
        mapping = {str(dscp): priority for dscp, priority in qos.dscp_priority.items()}
        found = {"dcbx": qos.dcbx, "trust": qos.trust, "dscp_priority": mapping, "lossless": sorted(qos.lossless)}
        names = ("tc", "algorithm", "percent")
        return {
            **found,
            "backend": backend,
            "queues": [dict(zip(names, it)) for it in qos.queues],
            "cable_m": qos.cable_m,
        }


@contextlib.contextmanager
def _noted(unknown: list[str]) -> Iterator[None]:
    """Note why a part can't be read, and go on."""
    try:
        yield
    except (DeviceError, ValueError, LookupError) as err:
        unknown.append(str(err))


def _net(name: str) -> Path:
    return Path(f"{ROOT}/sys/class/net/{name}")


def _numbers(folder: Path) -> dict[str, int]:
    """Counters of a folder; its settings, such as lifespan, are no counters."""
    texts = {path.name: _text(path) for path in sorted(folder.glob("*")) if path.name != "lifespan"}
    return {name: int(text) for name, text in texts.items() if text.isdigit()}


def _text(path: Path) -> str:
    """A file's text, empty if the driver has none."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""

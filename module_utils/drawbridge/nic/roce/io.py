# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RDMA devices through the kernel's trees: sysfs, configfs and debugfs; and mlxconfig, read only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.gids import ipv4_gid
from ...nodes.gids_io import gids
from ..naming import named
from . import firmware_io
from .firmware import Firmware
from .needs_io import missing
from .places import CNP_PRIORITY, DEBUGFS, FIRMWARE, MARKS, OFED, place, switched
from .plan import TOS, Change, NicRoce, NicRoces

ROOT = ""
"""A prefix of the kernel's trees, for tests."""
CM = "/sys/kernel/config/rdma_cm"


def write(path: Path, value: str) -> None:
    """Write one value as a line. The kernel refuses by an error number. Raises OSError."""
    path.write_text(f"{value}\n")


class RdmaDevices:
    """The RDMA devices of `want`."""

    name = "RDMA devices"

    def __init__(self, run: Run, want: NicRoces, gpu_direct: bool = False, topology_file: str = "") -> None:
        self._run, self._want = run, want
        self._gpu_direct, self._topology_file = gpu_direct, topology_file

    def read(self) -> NicRoces:
        """Settings, GID and name of every device. Raises DeviceError."""
        marked = any(("", TOS) in device.settings for device in self._want.devices.values())
        cm = not marked or Path(ROOT + CM).is_dir()
        devices = {netdev: self._device(netdev, cm) for netdev in self._want.devices}
        parameters = {port: self._parameters(port) for port in self._want.firmware}
        return NicRoces(devices, cm, firmware=parameters, missing=missing(ROOT, self._gpu_direct, self._topology_file))

    def apply(self, steps: Sequence[Step[NicRoces]]) -> None:
        """Write value by value; without rdma_cm, load it first. Raises DeviceError."""
        for step in steps:
            change = step.payload
            with named(step):
                if change.firmware:
                    firmware_io.write(self._run, _pci(change.scope), change.firmware)
                elif change.setting:
                    self._set(change)
                else:
                    self._run(["modprobe", "rdma_cm"])

    def _set(self, change: Change) -> None:
        rdma = self._rdma(change.netdev)
        place = self._place(change.scope, change.setting) if change.scope else None
        with contextlib.nullcontext(place) if place else _cm_defaults(rdma, change.setting) as path:
            try:
                write(path, change.value)
            except OSError as err:
                raise DeviceError(f"{path} did not take {change.value}: {err.strerror}") from err

    def _device(self, netdev: str, cm: bool) -> NicRoce:
        rdma = self._rdma(netdev)
        settings: dict[tuple[str, str], str] = {}
        if rdma and cm and "," not in rdma:
            for name in (key for scope, key in self._want.devices[netdev].settings if not scope):
                with _cm_defaults(rdma, name) as path:
                    settings["", name] = _read(path)
        paths: dict[str, str] = {}
        for port in self._want.devices[netdev].ports:
            paths[port], found = self._congestion(netdev, port)
            settings.update({(port, key): value for key, value in found.items()})
        pci = {port: _pci(port) for port in paths}
        gid = ipv4_gid(gids(Path(f"{ROOT}/sys/class/infiniband/{rdma}")), netdev) if rdma else None
        return NicRoce(rdma, settings, self._want.devices[netdev].ports, gid, paths, pci)

    def _rdma(self, netdev: str) -> str:
        """The name of its RDMA device as the kernel has it now; "" for none."""
        return ",".join(sorted(_rdma_devices(self._want.devices[netdev].ports)))

    def _congestion(self, netdev: str, port: str) -> tuple[str, dict[str, str]]:
        """Where a port's congestion control is set, and its values."""
        names = [key for scope, key in self._want.devices[netdev].settings if scope == port]
        if not names:
            return "", {}
        for path, base in ((OFED, _ofed(port)), (DEBUGFS, _debugfs(port))):
            if base.is_dir():
                places = {key: self._place(port, key) for key in names}
                found = {key: _read(place) for key, place in places.items() if place}
                if path == DEBUGFS and _read(base / "np_cnp_prio_mode") != "0":
                    found.pop(CNP_PRIORITY)  # it has a value, but is not in effect; a write puts it into effect
                return path, found
        parameters = {key: place(FIRMWARE, key) for key in names if not switched(key)}
        values = firmware_io.read(self._run, _pci(port), list(parameters.values())) if firmware_io.tool() else {}
        known = {key: values[name][0] for key, name in parameters.items() if name in values}
        return (FIRMWARE if known.keys() >= MARKS[FIRMWARE].keys() else ""), known

    def _place(self, port: str, setting: str) -> Path | None:
        """The file of a setting, None if the port's path has none."""
        path, base = (OFED, _ofed(port)) if _ofed(port).is_dir() else (DEBUGFS, _debugfs(port))
        name = place(path, setting)
        return base / name if name else None

    def _parameters(self, port: str) -> Firmware:
        names = self._want.firmware[port].values
        found = firmware_io.read(self._run, _pci(port))
        return Firmware(_pci(port), {name: found[name] for name in names if name in found})


def exists(device: NicRoce) -> bool:
    """Whether the kernel has made the RDMA device of these ports."""
    return bool(_rdma_devices(device.ports))


def _rdma_devices(ports: Iterable[str]) -> set[str]:
    return {path.name for port in ports for path in _net(port).glob("device/infiniband/*")}


@contextlib.contextmanager
def _cm_defaults(rdma: str, name: str) -> Iterator[Path]:
    """A file of RDMA-CM's defaults. configfs has it only while the device's directory is there; its value stays."""
    place = Path(f"{ROOT}{CM}/{rdma}")
    made = not place.is_dir()
    try:
        if made:
            place.mkdir()
        yield place / "ports/1" / name
    except OSError as err:
        raise DeviceError(f"RDMA-CM's defaults of {rdma} can't be read: {err.strerror}") from err
    finally:
        if made and place.is_dir():
            place.rmdir()


def _net(port: str) -> Path:
    return Path(f"{ROOT}/sys/class/net/{port}")


def _ofed(port: str) -> Path:
    return _net(port) / "ecn"


def _debugfs(port: str) -> Path:
    return Path(f"{ROOT}/sys/kernel/debug/mlx5/{_pci(port)}/cc_params")


def _pci(port: str) -> str:
    return (_net(port) / "device").resolve().name


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as err:
        raise DeviceError(f"{path} can't be read: {err.strerror}") from err

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What controllers read of each kind of file systems in clients.py. No visit carries it: it is found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .clients import CLIENTS
from .model import Driver, Kind, SharedFilesystem

KINDS: Mapping[str, Kind] = {name: import_module(f"{__package__}.{name}.kind").KIND for name in CLIENTS}


def shared(filesystems: Mapping[str, Any]) -> list[SharedFilesystem]:
    """File systems of all kinds that a site has, in the order of the kinds."""
    return [each for name, intent in filesystems.items() for each in KINDS[name].shared(intent)]


def with_filesets(filesystems: Mapping[str, Any]) -> dict[str, bool]:
    """Mount points, each with whether directories of projects are filesets there."""
    return {each.mount: KINDS[each.kind].filesets for each in shared(filesystems)}


def drivers(filesystems: Mapping[str, Any]) -> dict[str, Driver]:
    """Drivers in Kubernetes that a site wants, by kind."""
    found = {name: made(intent) for name, intent in filesystems.items() if (made := KINDS[name].driver)}
    return {name: driver for name, driver in found.items() if driver}


def storage_classes(filesystems: Mapping[str, Any]) -> list[str]:
    """Storage classes of all drivers."""
    return [each for driver in drivers(filesystems).values() for each in driver.classes]


CLASS_KEYS = [f"drawbridge_{name}.csi.classes" for name, kind in KINDS.items() if kind.driver]
"""Where they are declared."""

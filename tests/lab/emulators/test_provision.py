# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which emulated commands a host has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.emulators import provision
from lab.emulators.nodes.lldpctl import CABLES
from lab.hosts import site
from lab.hosts.paths import Paths
from lab.hosts.provision import Context

NAMES = ("mlnx_qos", "openibd", "dcb", "ethtool", "setpci", "lldpctl", "ib_write_bw", "nvidia-smi", "mmlscluster")
EVERYWHERE = {"mmlscluster"}
PORTS = {"ethtool", "setpci", "lldpctl", "ib_write_bw"}


def commands(disk: Path, name: str, host: str) -> set[str]:
    """Commands of a host of a site, whose disk is written."""
    room = site.load(43, site.file_of(name))
    provision.provision(Context(room, room.hosts[host], Paths(43, disk, disk), disk, disk, frozenset()))
    return {path.name for path in disk.rglob("*") if path.is_symlink() and str(path.readlink()) == provision.LAUNCHER}


@pytest.mark.parametrize(
    ("name", "host", "wanted"),
    [
        ("", "gpu01", PORTS | {"mlnx_qos", "openibd", "nvidia-smi"}),
        ("gpus", "amd01", PORTS | {"dcb"}),
        ("gpus", "gpu01", {"nvidia-smi"}),
        ("gpus", "cpu01", set()),
    ],
)
def test_tools_are_those_of_the_hardware(tmp_path: Path, name: str, host: str, wanted: set[str]) -> None:
    assert commands(tmp_path, name, host) & set(NAMES) == wanted | EVERYWHERE


def test_the_ports_of_a_node_with_amds_gpus_are_plugged_into_sonics(tmp_path: Path) -> None:
    commands(tmp_path, "gpus", "amd01")
    ends = json.loads((tmp_path / CABLES.lstrip("/")).read_text())
    assert ends == {f"rail{at}": ["leaf1", f"Ethernet{4 * at}"] for at in range(2)}

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The starter, with a program that says a release and prints its arguments."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import validated
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.node_exporter_layer import (
    SPEC,
    lines,
    troubles,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.node_flags import flags

from tests.conformance.tree import ROOT

FOLDER = "/run/drawbridge/metrics"
WANTED = validated(SPEC, {"flags": flags(["rail0", "rail1"], ["mlx5_0"], [3])})["flags"]
ETHTOOL, INFINIBAND, PCI = "--collector.ethtool", "--collector.infiniband", "--collector.pcidevice"
TEXTFILE = "--collector.textfile.directory"
DEVICE, METRICS = ".device-include", ".metrics-include"
IN_ALL = [TEXTFILE, ETHTOOL, f"{ETHTOOL}{DEVICE}", f"{ETHTOOL}{METRICS}"]


class Started:
    """The starter, and a node_exporter of some release."""

    def __init__(self, root: Path) -> None:
        self._starter, self._program = root / "starter", root / "node_exporter"
        self._starter.write_text((ROOT / "roles/telemetry/files/node-exporter").read_text())
        (root / "starter.flags").write_text(lines(WANTED))
        version = 'echo "node_exporter, version $RELEASE (branch: , revision: )" >&2; exit'
        self._program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ {version}; }}\nprintf "%s\\n" "$@"\n')
        for path in (self._starter, self._program):
            path.chmod(0o755)

    def flags(self, release: str, *site: str) -> list[str]:
        """The flags that it gets with these of the site."""
        argv = [str(self._starter), str(self._program), *site]
        environment = {"RELEASE": release, "PATH": "/usr/bin:/bin"}
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    def names(self, release: str, *site: str) -> list[str]:
        """Their names, without the site's."""
        found = self.flags(release, *site)
        assert found[: len(site)] == list(site)
        return [flag.partition("=")[0] for flag in found[len(site) :]]


@pytest.fixture
def started(tmp_path: Path) -> Started:
    return Started(tmp_path)


@pytest.mark.parametrize(
    ("release", "added"),
    [
        ("1.5.0", IN_ALL),
        ("1.9.1", IN_ALL),
        ("1.11.0", [TEXTFILE, PCI, *IN_ALL[1:]]),
        ("1.12.1", [TEXTFILE, PCI, INFINIBAND, f"{INFINIBAND}{DEVICE}", *IN_ALL[1:]]),
        ("2.0.0-rc.1", [TEXTFILE, PCI, INFINIBAND, f"{INFINIBAND}{DEVICE}", *IN_ALL[1:]]),
        ("", [TEXTFILE]),
    ],
)
def test_a_release_gets_the_flags_that_it_has(started: Started, release: str, added: list[str]) -> None:
    assert started.names(release, "--web.listen-address=:9100") == added


def test_flags_arrive_as_they_are(started: Started) -> None:
    found = started.flags("1.12.1", "a  *", "$HOME")
    assert found[:2] == ["a  *", "$HOME"]
    assert set(found[2:]) == {word for it in WANTED for word in it["flags"]}


@pytest.mark.parametrize(
    ("release", "site", "gone"),
    [
        ("1.12.1", (ETHTOOL,), IN_ALL[1:]),
        ("1.12.1", ("--no-collector.ethtool",), IN_ALL[1:]),
        ("1.12.1", (f"{ETHTOOL}.device-exclude=^lo$",), IN_ALL[1:]),
        ("1.12.1", (f"{INFINIBAND}.device-exclude=x", PCI), [PCI, INFINIBAND, f"{INFINIBAND}{DEVICE}"]),
        ("1.12.1", (f"{TEXTFILE}=/other",), []),
        ("1.8.2", (f"{TEXTFILE}=/other",), [TEXTFILE]),
        ("1.12.1", (f"{TEXTFILE}={FOLDER}",), [TEXTFILE]),
        ("1.12.1", (TEXTFILE, FOLDER), [TEXTFILE]),
    ],
)
def test_nothing_stands_twice_beside_the_sites_own_flags(
    started: Started, release: str, site: tuple[str, ...], gone: list[str]
) -> None:
    assert started.names(release, *site) == [name for name in started.names(release) if name not in gone]


def test_without_its_file_of_flags_it_starts_with_the_sites(started: Started, tmp_path: Path) -> None:
    (tmp_path / "starter.flags").unlink()
    assert started.flags("1.12.1", "--web.listen-address=:9100") == ["--web.listen-address=:9100"]


def test_the_layer_names_flags_that_it_leaves_out(started: Started) -> None:
    assert troubles(WANTED, 1012, started.flags("1.12.1")) == []
    [ethtool] = troubles(WANTED, 1012, started.flags("1.12.1", "--no-collector.ethtool"))
    assert ethtool.startswith("the site's own flags of collector.ethtool stand, and --collector.ethtool, ")
    _roce, old = troubles(WANTED, 1008, started.flags("1.8.2", f"{TEXTFILE}=/other"))
    assert f"{TEXTFILE} are left out" in old

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The script that a node runs without Ansible, beside the module that built the node, on the emulated tool."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import jinja2
import pytest

from lab.emulators.common import Device
from tests.conformance.tree import ROOT
from tests.unit.library.emulated import RAILS, Host, with_rails, writes
from tests.unit.library.test_mlnx_qos import ARGS

TEMPLATE = ROOT / "roles/fabric_nic/templates/drawbridge-nic.sh.j2"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    return with_rails(tmp_path, monkeypatch, capfd)


@pytest.fixture
def nic(host: Host) -> Device:
    return host.device("mlnx_qos")


class Node:
    """A host that the module has built, with the script."""

    def __init__(self, host: Host) -> None:
        self._host = host
        environment = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)
        self._script = host.root / "drawbridge-nic"
        text = environment.from_string(TEMPLATE.read_text()).render(fabric_nic_qos=ARGS)
        self._script.write_text(text)
        self.steps(0)
        host.run("mlnx_qos", **ARGS)

    def steps(self, number: int) -> None:
        """So many jobs' steps run on the host."""
        pgrep = self._host.bin / "pgrep"
        pgrep.write_text(f'#!/bin/sh\n[ "$*" = "-x slurmstepd" ] && [ {number} -gt 0 ]\n')
        pgrep.chmod(0o755)

    def boot(self) -> None:
        (self._host.root / "proc/sys/kernel/random/boot_id").write_text("another")

    def call(self, verb: str) -> tuple[int, str]:
        env = {**os.environ, **self._host.environment}
        done = subprocess.run(["sh", str(self._script), verb], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip()


@pytest.fixture
def node(host: Host) -> Node:
    return Node(host)


def test_what_the_module_made_is_left_alone(node: Node, nic: Device) -> None:
    before = len(writes(nic))
    assert node.call("look") == (0, "")
    assert node.call("apply") == (0, "")
    assert len(writes(nic)) == before


def test_a_boot_is_noticed_and_mended_to_what_the_module_wants(host: Host, node: Node) -> None:
    node.boot()
    assert node.call("look") == (1, f"{RAILS[0]} is not lossless any more: run nic.yml")
    assert node.call("apply") == (0, "")
    assert host.run("mlnx_qos", check=True, **ARGS)["steps"] == []


def test_links_of_jobs_that_outlive_their_slurmd_stay_up(node: Node, nic: Device) -> None:
    before = len(writes(nic))
    node.steps(1)
    node.boot()
    assert node.call("apply") == (0, "")
    assert len(writes(nic)) == before
    assert node.call("look")[0] == 1


@pytest.mark.parametrize(
    "drift",
    [
        {"dcbx": "fw"},
        {"pfc": [0, 0, 0, 1, 1, 0, 0, 0]},
        {"pfc": [0] * 8},
        {"apps": [[dscp, 0 if dscp == 48 else dscp >> 3] for dscp in range(64)]},
    ],
    ids=["dcbx", "one lossless too many", "none", "map"],
)
def test_whatever_the_module_would_change_is_a_finding(node: Node, nic: Device, drift: dict[str, Any]) -> None:
    with nic.state() as state:
        state["ports"]["rail1"] |= drift
    assert node.call("look") == (1, "rail1 is not lossless any more: run nic.yml")


@pytest.mark.parametrize("effect", ["refuse", "lie"])
def test_what_can_not_be_mended_stays_a_finding(node: Node, nic: Device, effect: str) -> None:
    node.boot()
    nic.add_fault("mlnx_qos", effect, match="rail1 --pfc")
    assert node.call("apply")[0] == 1
    assert node.call("look") == (1, "rail1 is not lossless any more: run nic.yml")


def test_a_tool_that_is_gone_is_a_finding(node: Node, host: Host) -> None:
    Path(host.bin / "mlnx_qos").unlink()
    assert node.call("look")[0] == 1

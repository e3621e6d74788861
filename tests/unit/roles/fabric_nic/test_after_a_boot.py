# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that a node runs without Ansible, beside the module that built the node, on the emulated tool."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from lab.emulators.common import Device
from tests.conformance.tree import ROOT
from tests.unit.library.emulated import RAILS, Host, with_rails, writes
from tests.unit.library.test_mlnx_qos import ARGS

ROLE = ROOT / "roles/fabric_nic"
PROGRAM = ROLE / "files/drawbridge-nic.py"
SOURCES = imported(PROGRAM.read_text(), source)
QOS = ARGS["groups"]
SETTINGS = {"qos": QOS, "mtu": [{"interfaces": RAILS[:2], "mtu_bytes": 9000}], "roce": []}
TRUST = "trust dscp, not pcp"
PFC = "make priority 3 lossless, not none"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    return with_rails(tmp_path, monkeypatch, capfd)


@pytest.fixture
def nic(host: Host) -> Device:
    return host.device("mlnx_qos")


class Node:
    """A host that the module has built, with the program and no other file of this tree."""

    def __init__(self, host: Host) -> None:
        self._host, local = host, host.root / "usr/local"
        program = local / "lib/drawbridge-nic/drawbridge"
        modules = {program / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
        for path, original in {local / "sbin/drawbridge-nic": PROGRAM, **modules}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(original.read_text())
        self.program, self.place = local / "sbin/drawbridge-nic", host.root / "nic.json"
        self.place.write_text(json.dumps(SETTINGS))
        self.steps(0)
        host.program("systemctl", "echo inactive\necho inactive\nexit 3")
        host.run("mlnx_qos", **ARGS)

    def steps(self, number: int) -> None:
        """So many jobs' steps run on the host."""
        self._host.program("pgrep", f'[ "$*" = "-x slurmstepd" ] && [ {number} -gt 0 ] && echo 4711')

    def boot(self) -> None:
        (self._host.root / "proc/sys/kernel/random/boot_id").write_text("another")

    def call(self, verb: str, *options: str, wait_s: float | None = None) -> tuple[int, str]:
        """Call it; its exit code and what it says. Nothing of the caller's environment decides which programs run."""
        env = {**os.environ, **self._host.environment, "PATH": "/nowhere", "PYTHONPATH": str(ROOT)}
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, "-IS", str(self.program), verb, *options]
        argv += ["--place", str(self.place), "--path", self._host.environment["PATH"]]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=wait_s)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()


@pytest.fixture
def node(host: Host) -> Node:
    return Node(host)


def lost(rail: str, why: str) -> tuple[int, str]:
    """What a look says of a port."""
    return 1, f"NIC settings differ, run nic.yml: {rail}: {why}"


def test_it_runs_without_the_callers_python_settings_and_packages() -> None:
    files = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__fabric_nic_files"]
    [placed] = [it for it in files if it["path"] == "/usr/local/sbin/drawbridge-nic"]
    assert (placed["source"], placed["run_by"]) == ("drawbridge-nic.py", "/usr/bin/python3 -IS")


def test_after_a_boot_apply_makes_the_modules_settings(host: Host, node: Node, nic: Device) -> None:
    by_the_module = writes(nic)
    assert (node.call("look"), node.call("apply")) == ((0, ""), (0, ""))
    assert writes(nic) == by_the_module, "what the module made is left alone"
    node.boot()
    assert node.call("look") == lost(RAILS[0], TRUST)
    repaired = [f"{rail}: {reason}" for reason in (TRUST, PFC) for rail in RAILS[:2]]
    assert node.call("apply") == (0, "\n".join(repaired))
    assert writes(nic) == by_the_module * 2
    assert host.run("mlnx_qos", check=True, **ARGS)["steps"] == []
    assert node.call("look") == (0, "")


def test_links_of_jobs_that_outlive_their_slurmd_stay_up(node: Node, nic: Device) -> None:
    """Their traffic stays where it is. The failure lets the next start of slurmd try again."""
    node.steps(1)
    node.boot()
    before = len(writes(nic))
    code, said = node.call("apply")
    assert (code, said.count("a Slurm job is on this node")) == (1, 4)
    assert writes(nic)[before:] == []
    assert node.call("look") == lost(RAILS[0], TRUST)
    node.steps(0)
    assert node.call("apply")[0] == 0
    assert node.call("look") == (0, "")


@pytest.mark.parametrize(
    ("effect", "why"),
    [
        ("refuse", f"rail1: {PFC}: mlnx_qos failed: Netlink error: Bad value. see dmesg."),
        ("lie", f": rail1: {PFC}"),
    ],
)
def test_a_failed_repair_stays_a_finding(node: Node, nic: Device, effect: str, why: str) -> None:
    node.boot()
    nic.add_fault("mlnx_qos", effect, match="rail1 --pfc")
    code, said = node.call("apply")
    assert code == 1 and said.splitlines()[-1].endswith(why)
    assert node.call("look") == lost("rail1", PFC)


def test_a_tool_that_hangs_is_a_finding(node: Node, nic: Device) -> None:
    nic.add_fault("mlnx_qos", "hang")
    assert node.call("look", "--limit", "1") == (1, "mlnx_qos gave no answer within 1 s and was killed")


def test_a_port_that_is_gone_is_a_finding(node: Node) -> None:
    node.place.write_text(json.dumps({**SETTINGS, "qos": [{**QOS[0], "interfaces": ["rail0", "rail9"]}]}))
    code, said = node.call("look")
    assert code == 1 and "but this host has no rail9" in said


def test_after_a_boot_no_manager_has_set_the_mtu(host: Host, node: Node) -> None:
    (host.bin / "ip").unlink()
    host.install("ip")
    link = {"max_mtu": 9978, "operstate": "UP", "network_file": "", "profile": ""}
    with host.device("net").state({"profiles": {}}) as state:
        state["links"] = {rail: {**link, "index": at, "mtu": 9000 - 7500 * at} for at, rail in enumerate(RAILS[:2])}
    assert node.call("look") == lost("rail1", "set MTU 9000, not 1500")
    assert node.call("apply") == (0, "rail1: set MTU 9000, not 1500")
    assert node.call("look") == (0, "")
    assert writes(host.device("net")) == [["ip", "link", "set", "dev", "rail1", "mtu", "9000"]]


def test_a_port_that_appears_again_gets_its_settings_and_the_others_stay(host: Host, node: Node, nic: Device) -> None:
    with nic.state() as state:
        for rail in RAILS[:2]:
            state["ports"][rail] |= {"pfc": [0] * 8}
    before = len(writes(nic))
    assert node.call("apply", "rail1") == (0, f"rail1: {PFC}")
    assert [argv[2] for argv in writes(nic)[before:]] == ["rail1"]
    assert (node.call("look", "rail1"), node.call("look")) == ((0, ""), lost("rail0", PFC))
    assert node.call("apply", "eth7") == (0, ""), "a device without settings needs none"


def test_one_call_at_a_time_repairs(node: Node, nic: Device) -> None:
    node.boot()
    with node.place.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(subprocess.TimeoutExpired):
            node.call("apply", "rail0", wait_s=3)
        assert node.call("look")[0] == 1, "looking waits for nobody"
    assert node.call("apply", "rail0")[0] == 0


@pytest.mark.parametrize(
    "text",
    [None, "", "[]", "{}", '{"qos": [], "mtu": [], "roce": []}'],
    ids=["none", "empty", "a list", "without keys", "without ports"],
)
def test_a_file_without_settings_is_a_finding(node: Node, text: str | None) -> None:
    node.place.unlink()
    if text is not None:
        node.place.write_text(text)
    for verb in ("look", "apply"):
        code, said = node.call(verb)
        assert code == 1
        assert said.startswith(f"{node.place} has no settings of the ports, run nic.yml")
        assert len(said.splitlines()) == 1


def test_without_classes_of_the_fabric_the_other_settings_are_looked_at(host: Host, node: Node) -> None:
    node.place.write_text(json.dumps({**SETTINGS, "qos": []}))
    assert node.call("look") == (0, "")
    shown = [{"ifname": rail, "operstate": "UP", "mtu": 1500, "max_mtu": 9978} for rail in RAILS]
    host.program("ip", f"cat <<'END'\n{json.dumps(shown)}\nEND")
    assert node.call("look") == (1, "NIC settings differ, run nic.yml: rail0: set MTU 9000, not 1500")

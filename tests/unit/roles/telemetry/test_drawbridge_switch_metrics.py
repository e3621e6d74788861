# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that reads switches, with no other file of this tree, and with a stub of netmiko or none.

tests/unit/module_utils/telemetry/test_switch_systems.py has netmiko and all systems.
"""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import (
    Cnp,
    Roce,
    SwitchProfile,
    Watchdog,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.exposition import METRICS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import SWITCHES
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT

FILES = ROOT / "roles/telemetry/files"
PROGRAM = FILES / "drawbridge-switch-metrics.py"
SOURCES = imported(PROGRAM.read_text(), source)
DRIVER = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
STUB = """
import json
from . import exceptions
from .exceptions import NetmikoAuthenticationException
__version__ = "{version}"
ANSWERS = {{
    "show version": json.dumps({{"version": "4.35.0F"}}),
    "show priority-flow-control counters detail | json": json.dumps(
        {{"interfaces": {{"Ethernet1": {{"priorities": {{"3": {{"rxFrames": 7, "txFrames": 0}}}}}}}}}}
    ),
}}
class BaseConnection:
    base_prompt = "leaf1"
    def __init__(self, **named):
        if "{refuses}":
            raise exceptions.NetmikoAuthenticationException("Authentication to device failed.")
        assert (named["password"], named["ssh_strict"], named["alt_key_file"]) == ("secret", True, "known_hosts")
    def send_command(self, line, **named):
        return ANSWERS.get(line, "% Invalid input")
    def paramiko_cleanup(self):
        pass
def ssh_dispatcher(device_type):
    assert device_type == "arista_eos"
    return BaseConnection
"""
EXCEPTIONS = """
class NetmikoBaseException(Exception): pass
class NetmikoAuthenticationException(NetmikoBaseException): pass
class ReadTimeout(NetmikoBaseException): pass
"""


class Host:
    """A host with the program and its configuration."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root, self.program = root, program
        profile = SwitchProfile("eos", "xgs", ("Ethernet1",), 9214, Roce(3, 26), Cnp(), Watchdog()).as_dict()
        self.password = root / "password"
        self.settings: dict[str, Any] = {
            "seconds": 60,
            "parallel": 4,
            "user": "reader",
            "known_hosts": "known_hosts",
            "password_file": str(self.password),
            "addresses": {"leaf1": ""},
            "ports": {},
            "switches": {"leaf1": {"profile": profile, "nodes": {"Ethernet1": ["gpu01", "0"]}}},
        }
        self.place("secret\n")

    def place(self, password: str, mode: int = 0o600, **changes: Any) -> None:
        """Write the configuration and the password."""
        (self.root / "place.json").write_text(json.dumps({**self.settings, **changes}))
        self.password.write_text(password)
        self.password.chmod(mode)

    def stub(self, version: str = "4.8.0", refuses: str = "") -> None:
        """Give the host a netmiko."""
        for name, text in {
            "netmiko/__init__.py": STUB.format(version=version, refuses=refuses),
            "netmiko/exceptions.py": EXCEPTIONS,
            "paramiko/ssh_exception.py": "class SSHException(Exception): pass\n",
        }.items():
            path = self.root / "packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def call(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output, complaints."""
        argv = [sys.executable, "-IS", "-c", DRIVER, str(self.root / "packages"), str(self.program), *words]
        argv += ["--place", str(self.root / "place.json"), "--metrics", str(self.root / "metrics")]
        done = subprocess.run(argv, env={"LC_ALL": "C"}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with its modules, compiled once."""
    local = tmp_path_factory.mktemp("local")
    found, library = local / "sbin/drawbridge-switch-metrics", local / "lib/drawbridge-switch-metrics/drawbridge"
    for path, text in {found: PROGRAM.read_text(), **{library / it: SOURCES[it] for it in SOURCES}}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    compileall.compile_dir(library, quiet=1)
    return found


@pytest.fixture
def host(tmp_path: Path, program: Path) -> Host:
    return Host(tmp_path, program)


def test_a_python_without_netmiko_is_named_with_the_repair(host: Host) -> None:
    code, out, said = host.call("run")
    assert (code, out) == (2, "")
    assert said == (
        f"{sys.executable} can't import netmiko (No module named 'netmiko'); install it there (Debian:"
        " python3-netmiko), or name another Python in drawbridge_telemetry.switches.python\n"
    )


def test_an_old_netmiko_is_named(host: Host) -> None:
    host.stub("2.4.2")
    code, _out, said = host.call("run")
    assert (code, f"netmiko of {sys.executable} is 2.4.2, and 4.3 is needed; " in said) == (2, True)


def test_one_look_needs_nothing_but_netmiko(host: Host) -> None:
    """The stub refuses all commands but two."""
    host.stub()
    code, out, said = host.call("look", "leaf1")
    assert code == 1
    assert said.startswith("leaf1 is read in part: ECN marks: leaf1 refused 'show qos interfaces ecn counters queue")
    labels = 'switch="leaf1",port="Ethernet1",node="gpu01",rail="0",priority="3",direction="rx"'
    assert f"drawbridge_switch_pause_frames_total{{{labels}}} 7\n" in out
    assert 'drawbridge_switch_up{switch="leaf1"} 0\n' in out


def test_a_refused_login_says_what_to_correct_and_no_password(host: Host) -> None:
    host.stub(refuses="yes")
    code, out, said = host.call("look", "leaf1")
    assert (code, out.splitlines()[2:]) == (1, ['drawbridge_switch_up{switch="leaf1"} 0'])
    assert said == (
        f"leaf1 is not read: leaf1 (leaf1 port 22) refuses the login of reader with {host.password};"
        " correct drawbridge_telemetry.switches.user, or this file\n"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mode": 0o640}, "other users can read {password}; run chmod 600 {password}"),
        ({"password": "\n"}, "{password} is empty"),
        ({"switches": {}}, "it names no switches"),
        ({"switches": []}, "AttributeError"),
        ({"seconds": "often"}, "ValueError"),
        ({"password_file": "/nowhere/password"}, "FileNotFoundError"),
        ({"key_file": "/nowhere/key"}, "FileNotFoundError"),
    ],
)
def test_a_configuration_that_is_no_good_is_said(host: Host, changes: dict[str, Any], said: str) -> None:
    host.place(**{"password": "secret", **changes})
    code, out, complaint = host.call("run")
    assert (code, out, complaint.count("\n")) == (2, "", 1)
    assert host.call("check") == (code, out, complaint)
    assert complaint.startswith(f"{host.root}/place.json has no settings of the reader, run telemetry.yml: ")
    assert said.format(password=host.password) in complaint
    assert "secret" not in complaint


def test_a_sound_configuration_is_checked_without_a_login(host: Host) -> None:
    host.stub(refuses="yes")
    assert host.call("check") == (0, "", "")


@pytest.mark.parametrize("name", [[], ["leaf9"]])
def test_a_switch_that_it_does_not_know_is_refused(host: Host, name: list[str]) -> None:
    code, _out, said = host.call("look", *name)
    assert (code, "it has leaf1" in said) == (2, True)


def test_its_unit_removes_the_file_and_waits_for_a_person_where_one_must_act() -> None:
    unit = (FILES / "drawbridge-switch-metrics.service").read_text().splitlines()
    assert "ExecStartPre=/usr/local/sbin/drawbridge-switch-metrics check" in unit
    assert f"ExecStopPost=-/bin/rm -f {METRICS / SWITCHES}" in unit
    assert f"ReadWritePaths=-{METRICS}" in unit
    assert "RestartPreventExitStatus=2" in unit

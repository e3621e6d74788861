# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that reads switches, on emulated switches of all systems, and over SSH on one that has faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric import state_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.switch_reader_io import (
    one_reading,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.switch_samples import (
    Reading,
    judged,
    samples,
)
from netmiko.exceptions import NetmikoAuthenticationException

from tests.conformance.tree import ROOT
from tests.unit.emulated_switch import Emulated, Leaf, Terminal
from tests.unit.module_utils.fabric.each_system import (
    CUMULUS,
    CUMULUS9,
    EOS,
    JUNOS,
    NEXUS,
    OS10,
    SONIC,
    SONIC24,
    System,
)
from tests.unit.module_utils.fabric.test_state_io import make_busy
from tests.unit.processes import LIMITS_S
from tests.waiting import until

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-switch-metrics.py"
TREE = "ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge"
LOSSLESS = {"pause_frames_total rx": 1200, "pause_frames_total tx": 3, "dropped_packets_total": 2}
MARKED, STORMS = {"ecn_marked_packets_total": 40}, {"watchdog_storms_total": 1}
DEPTH, PEAK = {"queue_bytes": 4096}, {"queue_peak_bytes": 8192}
Values = dict[tuple[str, str, str], float]
RUN = f"""
import sys
sys.argv, program = ["", *sys.argv[2:]], sys.argv[1]
text = open(program).read().replace("from drawbridge.", "from {TREE}.")
exec(compile(text, program, "exec"), {{"__name__": "__main__", "__file__": program}})
"""


@pytest.fixture(scope="module")
def program() -> Iterator[Any]:
    """The program in this process, with the modules that tests have."""
    module, path, bytecode = ModuleType("program"), [*sys.path], sys.dont_write_bytecode
    vars(module)["__file__"] = str(PROGRAM)
    sys.modules["program"] = module  # dataclasses look for it
    text = PROGRAM.read_text().replace("from drawbridge.", f"from {TREE}.")
    exec(compile(text, PROGRAM, "exec"), vars(module))
    sys.path[:], sys.dont_write_bytecode = path, bytecode
    yield module
    del sys.modules["program"]


def configuration(switch: Emulated, tmp_path: Path, over_ssh: bool = False) -> dict[str, Any]:
    """What the role writes for one switch, whose first port goes to gpu01."""
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "password").chmod(0o600)
    return {
        "seconds": 60,
        "parallel": 4,
        "user": "admin",
        "known_hosts": str(switch.keys / "known_hosts"),
        "key_file": str(switch.keys / "user") if over_ssh else "",
        "password_file": str(tmp_path / "password"),
        "addresses": {"leaf1": "127.0.0.1"},
        "ports": {"leaf1": switch.login.port if over_ssh else 22},
        "switches": {
            "leaf1": {"profile": switch.profile.as_dict(), "nodes": {switch.profile.ports[0]: ["gpu01", "0"]}}
        },
    }


def read(program: Any, switch: Emulated, tmp_path: Path, over_ssh: bool = False) -> tuple[Reading, Any]:
    """One reading, and the switch as the program sees it."""
    settings = program.settings_of(json.dumps(configuration(switch, tmp_path, over_ssh)))
    found = one_reading("leaf1", program.reading(settings, NetmikoAuthenticationException))
    return found, settings.targets["leaf1"]


def values(reading: Reading, target: Any) -> Values:
    """The values by port, priority and the end of the family's name, once labels have been compared."""
    found: Values = {}
    for sample in samples("leaf1", reading, target.ends, True, None):
        it = sample.labels
        if "port" in it:
            first = it["port"] == target.profile.ports[0]
            assert (it["switch"], it["node"], it["rail"]) == ("leaf1", *(("gpu01", "0") if first else ("", "")))
            name = f"{sample.family.removeprefix('drawbridge_switch_')} {it.get('direction', '')}".strip()
            found[it["port"], it["priority"], name] = sample.value
    return found


@pytest.fixture
def at_a_terminal(switch: Emulated, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """Sessions of this process, without SSH; the lines since the last look."""
    log_in = lambda *args: Terminal(switch.emulator, switch.prepares, *args)  # noqa: E731
    monkeypatch.setattr(state_io, "NetmikoSession", log_in)
    return switch.journal


@pytest.mark.parametrize(
    ("system", "lossless"),
    [
        (EOS, {**LOSSLESS, **MARKED, **STORMS}),
        (CUMULUS, {**LOSSLESS, **MARKED, **STORMS, **DEPTH, **PEAK}),
        (CUMULUS9, {**LOSSLESS, **MARKED, **STORMS, **DEPTH, **PEAK}),
        (SONIC, {**LOSSLESS, **MARKED, **STORMS, **PEAK}),
        (SONIC24, {**LOSSLESS, **STORMS, **PEAK}),
        (NEXUS, {**LOSSLESS, **MARKED, **STORMS, **DEPTH}),
        (JUNOS, {**LOSSLESS, **MARKED}),
        (OS10, {**LOSSLESS, **MARKED}),
    ],
    ids=str,
)
def test_each_system_gives_its_counters_with_node_and_rail(
    program: Any, switch: Any, at_a_terminal: Any, lossless: dict[str, int], system: System, tmp_path: Path
) -> None:
    """The second port is idle. A release without a command gives a complete reading too."""
    assert not switch.converge().error
    make_busy(switch)
    at_a_terminal()
    reading, target = read(program, switch, tmp_path)
    typed = [call["line"] for call in at_a_terminal() if "line" in call]
    assert (reading.failures, reading.gaps, reading.why_none) == ((), (), ""), system
    assert judged("leaf1", reading, target.ends).complete
    found = values(reading, target)
    busy, idle = target.profile.ports
    assert {name: value for (port, number, name), value in found.items() if (port, number) == (busy, "3")} == lossless
    assert {name: value for (port, number, name), value in found.items() if (port, number) == (idle, "3")} == {
        name: 0 for name in lossless
    }
    assert found[busy, "6", "dropped_packets_total"] == 9
    assert {number for _port, number, _name in found} == {"3", "6"}
    assert not any("lldp" in line or line.startswith(("enable", "no ")) for line in typed), typed


def test_a_program_on_a_host_has_all_systems(program: Any) -> None:
    assert set(program.DIALECTS) == set(SYSTEMS)
    assert {known.device_type for known in program.DIALECTS.values()}.isdisjoint({"cumulus_linux"})


def test_a_counter_that_nothing_counts_is_absent_and_said(
    program: Any, leaf: Leaf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before its first configuration, EOS prints dashes for ECN marks."""
    monkeypatch.setattr(state_io, "NetmikoSession", lambda *args: Terminal(leaf.emulator, leaf.prepares, *args))
    reading, target = read(program, leaf, tmp_path)
    verdict = judged("leaf1", reading, target.ends)
    assert (verdict.complete, reading.failures, len(reading.gaps)) == (True, (), 1)
    assert verdict.said.startswith("leaf1 is read, but some counters are absent: ECN marks: ecn_marked_packets of")
    assert not [name for *_where, name in values(reading, target) if "ecn" in name]


@pytest.mark.parametrize(
    ("effect", "match", "why"),
    [
        ("die", "queue detail", "leaf1 dropped the connection at 'show interfaces counters queue detail | json'"),
        ("leave", "show version", "leaf1 dropped the connection at 'show priority-flow-control counters detail"),
    ],
)
def test_a_switch_that_stops_in_the_middle_gives_no_values(
    program: Any, leaf: Leaf, effect: str, match: str, why: str, tmp_path: Path
) -> None:
    leaf.fault(effect, match)
    reading, target = read(program, leaf, tmp_path, over_ssh=True)
    assert reading.why_none.startswith(why)
    assert (reading.refused, values(reading, target), leaf.armed()) == (False, {}, False)


def test_a_switch_that_hangs_is_given_up(
    program: Any, leaf: Leaf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for limit_s in LIMITS_S:
        monkeypatch.setattr(program, "ANSWER_S", limit_s)
        leaf.fault("hang", "counters detail")
        reading, target = read(program, leaf, tmp_path, over_ssh=True)
        assert reading.why_none.startswith(f"leaf1 gave no answer within {limit_s:g} s to 'show ")
        assert values(reading, target) == {}
        if not leaf.armed():
            assert "to 'show priority-flow-control counters detail" in reading.why_none
            return
    pytest.fail("no limit was long enough to reach the command")


def test_a_command_that_is_refused_costs_its_part_alone(program: Any, leaf: Leaf, tmp_path: Path) -> None:
    leaf.fault("refuse", "counters queue detail")
    reading, target = read(program, leaf, tmp_path, over_ssh=True)
    [failure] = reading.failures
    assert failure.startswith("drops: leaf1 refused 'show interfaces counters queue detail | json': % Invalid input")
    assert not judged("leaf1", reading, target.ends).complete
    assert {name for _port, number, name in values(reading, target) if number == "3"} >= {"pause_frames_total rx"}


def test_a_refused_login_differs_from_other_failures(program: Any, leaf: Leaf, tmp_path: Path) -> None:
    text = {**configuration(leaf, tmp_path, over_ssh=True), "user": "nobody"}
    settings = program.settings_of(json.dumps(text))
    reading = one_reading("leaf1", program.reading(settings, NetmikoAuthenticationException))
    assert reading.refused
    assert reading.why_none == (
        f"leaf1 (127.0.0.1 port {leaf.login.port}) refuses the login of nobody with {leaf.keys / 'user'};"
        " correct drawbridge_telemetry.switches.user, or this file"
    )


def test_a_host_key_that_is_not_known_is_refused_and_no_password_is_sent(
    program: Any, leaf: Leaf, tmp_path: Path
) -> None:
    (tmp_path / "known_hosts").touch()
    text = {**configuration(leaf, tmp_path, over_ssh=True), "known_hosts": str(tmp_path / "known_hosts")}
    settings = program.settings_of(json.dumps({**text, "key_file": ""}))
    assert settings.login("leaf1").password == "secret"
    reading = one_reading("leaf1", program.reading(settings, NetmikoAuthenticationException))
    assert "has a host key that" in reading.why_none
    assert not reading.refused


def test_it_runs_until_a_signal_and_leaves_no_old_values(leaf: Leaf, tmp_path: Path) -> None:
    place, file = tmp_path / "place.json", tmp_path / "metrics/switches.prom"
    place.write_text(json.dumps({**configuration(leaf, tmp_path, over_ssh=True), "seconds": 3600}))
    file.parent.mkdir()
    file.write_text('drawbridge_switch_up{switch="leaf1"} 1\n')
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/collections:{ROOT}"}
    argv = [sys.executable, "-c", RUN, str(PROGRAM), "run", "--place", str(place), "--metrics", str(file.parent)]
    with subprocess.Popen(argv, env=env, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: "rx" in file.read_text(), 120, "the switch is read")
        assert 'drawbridge_switch_up{switch="leaf1"} 1\n' in file.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        said = process.stderr.read().splitlines() if process.stderr else []
    assert said[0] == "reads 1 switches every 3600 s, at most 4 at a time"
    assert not file.exists()


def test_one_look_prints_metrics_and_the_trouble(
    program: Any, leaf: Leaf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = program.settings_of(json.dumps(configuration(leaf, tmp_path, over_ssh=True)))
    assert program.look(settings, NetmikoAuthenticationException, "leaf1") == 0
    shown = capsys.readouterr()
    assert 'drawbridge_switch_up{switch="leaf1"} 1\n' in shown.out
    assert shown.err.startswith("leaf1 is read")
    target = settings.targets["leaf1"]
    moved = replace(target, login=replace(target.login, key_file=str(tmp_path / "gone")))
    settings.targets["leaf1"] = moved
    assert program.look(settings, NetmikoAuthenticationException, "leaf1") == 1
    assert 'drawbridge_switch_up{switch="leaf1"} 0\n' in capsys.readouterr().out

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules on recorded tool output: every YAML file beside this one is a module's table of cases.

A case gives arguments, and the exact commands that the module may run with what each answers. It also gives the result
of the module alone, which must be that of a visit, too:

    - id: converged_port_is_only_read
      args: {interface: rail0, ...}
      check_mode: false
      transcript:
        - run: [mlnx_qos, -i, rail0]
          out_file: nic/mlnx_qos/25.07_dscp_p3.txt
        - {unit: sackd.service, is: missing}
      expect: {changed: false, steps: []}

Files of `out_file` are below tests/transcripts; `out` gives the text itself, and a command may have `rc` and `err`.
A row with `unit` answers when the module asks systemd for a unit's state: `missing`, `stopped` or `running`.
A refusal has `failed: true`; the test compares `msg` as a part. Without `changed`, only steps are a change. Without
`failed` too, a case has no other steps than it says, and nothing else is pending.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from tests.unit.library.ways import PACKAGE, result_of, ways

HERE = Path(__file__).parent
TRANSCRIPTS = HERE.parent.parent / "transcripts"


UNIT = "LoadState={}\nActiveState={}\nSubState={}\nUnitFileState={}\nInactiveExitTimestampMonotonic={}\n"
UNITS = {
    "missing": UNIT.format("not-found", "inactive", "dead", "", 0),
    "stopped": UNIT.format("loaded", "inactive", "dead", "disabled", 0),
    "running": UNIT.format("loaded", "active", "running", "enabled", 1),
}
SHOW = ["systemctl", "show", "--property", ",".join(line.partition("=")[0] for line in UNIT.splitlines())]


def cases() -> list[Any]:
    return [
        pytest.param(path.stem, case, id=f"{path.stem}-{case['id']}")
        for path in sorted(HERE.glob("*.yml"))
        for case in yaml.safe_load(path.read_text())
    ]


class Replay:
    """A double of core.command.Command: answers from the transcript, in its order, and nothing else."""

    def __init__(self, transcript: list[dict[str, Any]]) -> None:
        self.left = [
            {"run": [*SHOW, line["unit"]], "out": UNITS[line["is"]]} if "unit" in line else line for line in transcript
        ]

    def __call__(self, argv: Any, ok: tuple[int, ...] = (0,)) -> Completed:
        argv = [argv[0].rsplit("/", 1)[-1], *argv[1:]]
        assert self.left, f"the module ran {argv}, which the transcript does not have"
        line = self.left.pop(0)
        assert argv == [str(word) for word in line["run"]]
        out = (TRANSCRIPTS / line["out_file"]).read_text() if "out_file" in line else line.get("out", "")
        done = Completed(line.get("rc", 0), out, line.get("err", ""))
        if done.rc not in ok:
            raise DeviceError(f"{argv[0]} failed: {done.err or done.out}", rc=done.rc, stdout=done.out, stderr=done.err)
        return done


@pytest.mark.parametrize(("name", "case"), cases())
def test_module(name: str, case: dict[str, Any], monkeypatch: Any, capfd: Any) -> None:
    module = importlib.import_module(f"{PACKAGE}.{name}")
    layer = importlib.import_module(getattr(module, name.upper()).work.__module__)
    monkeypatch.setattr(layer, "tool", str, raising=False)
    results = []
    for way in ways(name):
        replay = Replay(case["transcript"])
        if case["transcript"] or hasattr(layer, "Command"):
            monkeypatch.setattr(layer, "Command", lambda *args, replay=replay, **kwargs: replay)
        results.append(result_of(way, name, case["args"], case.get("check_mode", False), capfd))
        assert not replay.left, f"the module did not run {replay.left}"
    assert results[0] == results[-1]
    said: dict[str, Any] = case["expect"]
    none = {} if "failed" in said or "changed" in said else {"steps": [], "pending": []}
    expect = {**none, "changed": bool(said.get("steps")), **said}
    assert expect.pop("msg", "") in results[0].get("msg", "")
    assert results[0].get("failed", False) == expect.pop("failed", False), results[0]
    assert {key: results[0].get(key) for key in expect} == expect


MACHINE = {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2, "memory_mib": 2064384, "gpus": 0}


@pytest.mark.parametrize(
    ("name", "args", "why", "more"),
    [
        ("slurm_config", {"files": []}, "slurmctld.service is not installed yet", {}),
        ("slurm_daemon", {"unit": "sackd.service"}, "sackd.service is not installed yet", {}),
        ("slurm_database", {}, "mariadb.service does not run yet", {}),
        ("slurm_munge_key", {}, "munge.service is not installed yet", {"key": ""}),
        ("slurm_new_nodes", {"nodes": ["gpu05"]}, "slurmctld.service does not run yet", {}),
        ("slurm_node_hardware", {"name": "gpu01", "machine": MACHINE}, "slurmd.service is not installed yet", {}),
        ("slurm_node_ready", {"name": "gpu01"}, "slurmd.service does not run yet", {}),
        ("slurmdbd_config", {}, "slurmdbd.service is not installed yet", {}),
    ],
)
def test_without_its_daemon_a_module_predicts_nothing(
    name: str, args: dict[str, Any], why: str, more: dict[str, str], monkeypatch: Any, capfd: Any
) -> None:
    transcript = [{"unit": why.partition(" ")[0], "is": "missing"}]
    expect = {"pending": [f"{why}, so nothing can be predicted"], **more}
    case = {"args": args, "check_mode": True, "transcript": transcript, "expect": expect}
    test_module(name, case, monkeypatch, capfd)

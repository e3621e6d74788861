# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's program with no other file of this tree, and a scontrol that keeps its state in a file."""

from __future__ import annotations

import compileall
import fcntl
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health, Reboot
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.health import emulated_scontrol
from tests.unit.module_utils.health.controlled import LOST, MOUNT, NAMES, ROWS
from tests.unit.module_utils.health.emulated_scontrol import Scontrol, new

ROLE = ROOT / "roles/node_health"
PROGRAM = ROLE / "files/drawbridge-health-controller.py"
SOURCES = imported(PROGRAM.read_text(), source)
DRIVER = """
import importlib.machinery, importlib.util, pathlib, sys
file, root = sys.argv[1], pathlib.Path(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("program", file)
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", loader))
loader.exec_module(program)
program.PATH, program.METRICS = f"{root}/bin:/usr/bin:/bin", root / "metrics"
program.PLACE, program.STORE, program.RESULTS = root / "place.json", root / "store", root / "results"
program.WAIT_S = 1.0
sys.argv = [file, *sys.argv[3:]]
sys.exit(program.main())
"""
"""The program's own paths are those of a controller."""
VIEW = {
    "health": asdict(replace(Health(), reboot=Reboot(True))),
    "units": {"a": "n[01-10]", "b": "n[11-20]"},
    "proofs": "",
}


class Controller:
    """A folder with the program and its Slurm."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root, self._program, self.state = root, program, root / "slurm.json"
        (root / "place.json").write_text(json.dumps(VIEW))
        tool = root / "bin/scontrol"
        tool.parent.mkdir()
        called = f'exec {sys.executable} -IS {emulated_scontrol.__file__} {self.state} "$@"'
        seconds = '[ "$SLURM_TIME_FORMAT" = %s ] || exit 9'
        tool.write_text(f"#!/bin/sh\n{seconds}\n{called}\n")
        tool.chmod(0o755)
        Scontrol([new(name) for name in NAMES]).save(self.state)

    def slurm(self) -> Scontrol:
        return Scontrol.load(self.state)

    def report(self, comment: str, names: Iterable[str], **faults: Any) -> None:
        slurm = self.slurm()
        for name in names:
            slurm.nodes[name]["comment"] = comment
        slurm.faults = faults
        slurm.save(self.state)

    def updates(self) -> list[str]:
        return [" ".join(call) for call in self.slurm().calls if call[0] != "show"]

    def run(self, *words: str, given: str = "") -> tuple[int, str, str]:
        """Exit code, output, complaints."""
        # by the Python that runs the tests: they run on the oldest that controllers may have, too
        argv = [sys.executable, "-IS", "-c", DRIVER, str(self._program), str(self.root), "--limit", "300", *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, input=given, cwd=self.root)
        return done.returncode, done.stdout, done.stderr.strip()

    def tend(self) -> str:
        code, out, said = self.run("tend")
        assert (code, out) == (0, ""), said
        return said


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program and its modules, compiled once: on a controller it compiles nothing either."""
    root = tmp_path_factory.mktemp("local")
    found, library = root / "sbin/drawbridge-health", root / "lib/drawbridge-health-controller"
    modules = {library / "drawbridge" / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
    for path, original in {found: PROGRAM, **modules}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(original.read_text())
    compileall.compile_dir(library, quiet=1)
    return found


@pytest.fixture
def controller(tmp_path: Path, program: Path) -> Controller:
    return Controller(tmp_path, program)


def test_it_is_placed_to_run_without_the_callers_settings() -> None:
    files = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__node_health_files"]
    [placed] = [it for it in files if it["path"] == "/usr/local/sbin/drawbridge-health"]
    assert (placed["source"], placed["run_by"]) == (PROGRAM.name, "/usr/bin/python3 -I")


def test_the_units_are_those_of_the_program() -> None:
    service, timer = ((ROLE / f"files/drawbridge-health.{kind}").read_text() for kind in ("service", "timer"))
    assert "ExecStart=/usr/local/sbin/drawbridge-health tend\n" in service
    assert "OnUnitInactiveSec=30s\n" in timer


def test_it_drains_shows_and_lifts(controller: Controller) -> None:
    controller.report(f"RMA=1 {ROWS}", ["n01"])
    assert controller.tend().startswith("no memory of an earlier look: ")
    assert controller.tend() == ""
    assert controller.updates() == [
        "update nodename=n01 state=drain reason=drawbridge: health: [node repair] GPU 3: GPU memory rows: failed"
    ]
    code, out, said = controller.run("show", "n[01-02]")
    assert (code, said) == (2, "")
    assert "n01 (IDLE+DRAIN): findings keep it drained\n  [node repair] GPU 3" in out
    assert "n02 (IDLE): no finding" in out
    assert controller.run("lift", "n01")[:2] == (
        0,
        "n01 takes jobs again; its next health check reports again, if it still has a finding\n",
    )
    assert controller.run("show")[:2] == (0, "no node has a finding\n")
    assert controller.run("lift", "n01")[0] == 1


def test_an_open_breaker_is_shown_and_closed(controller: Controller) -> None:
    controller.report(MOUNT, NAMES[:3])
    controller.tend()
    code, out, _said = controller.run("show", "--json")
    shown = json.loads(out)
    assert (code, [*shown["breakers"]], len(shown["nodes"])) == (2, ["site"], 3)
    controller.report("", NAMES[1:3])
    code, out, _said = controller.run("close")
    assert code == 0
    assert out.splitlines() == [
        "breaker site is closed",
        "1 node will be drained at the next look:",
        "  n01: drawbridge: health: /fs1 is not mounted",
    ]
    assert controller.run("close", "site")[0] == 1


def test_metrics_say_that_slurmctld_is_silent(controller: Controller) -> None:
    controller.tend()
    controller.report(MOUNT, ["n01"], silent=True)
    assert controller.tend().startswith("slurmctld is silent, so nothing changes: ")
    assert "\ndrawbridge_health_up 0\n" in (controller.root / "metrics/health.prom").read_text()
    assert controller.run("show")[0] == 3
    assert controller.run("lift", "n01")[0] == 2
    assert controller.updates() == []


def test_a_second_one_leaves_the_work_to_the_first(controller: Controller) -> None:
    controller.tend()
    controller.report(MOUNT, ["n01"])
    with (controller.root / "store/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert controller.tend() == ""
        assert controller.run("close")[0] == 2
        assert controller.run("show")[0] == 1
    assert controller.updates() == []
    controller.tend()
    assert len(controller.updates()) == 1


@pytest.mark.parametrize("at", [0, 1])
def test_a_death_half_way_loses_nothing(at: int, controller: Controller) -> None:
    """scontrol kills the program before its first change, or before its second."""
    controller.tend()
    controller.report(MOUNT, ["n01"])
    controller.report(ROWS, ["n02"], kill_at=at)
    code, _out, _said = controller.run("tend")
    assert code == -signal.SIGKILL
    assert len(controller.updates()) == at
    controller.report(ROWS, ["n02"])
    assert controller.tend() == ""
    nodes = controller.slurm().nodes
    assert [nodes[name]["flags"] for name in ("n01", "n02")] == [["DRAIN"], ["DRAIN"]]
    controller.tend()
    lines = (controller.root / "store/history.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["what"] for line in lines) == ["drained", "drained", "found", "found"]


def test_a_death_before_a_reboot_reboots_later_once_or_never(controller: Controller) -> None:
    controller.report(LOST, ["n01"])
    controller.tend()
    controller.report(LOST, ["n01"], kill_at=1)
    assert controller.run("tend")[0] == -signal.SIGKILL
    controller.report(LOST, ["n01"])
    for _look in range(3):
        controller.tend()
    assert [call for call in controller.updates() if call.startswith("reboot")] == []
    assert [*json.loads((controller.root / "store/memory.json").read_text())["reboots"]] == ["n01"]


def test_a_tool_that_hangs_is_killed(controller: Controller) -> None:
    controller.tend()
    controller.report(MOUNT, ["n01"], hang="update")
    code, _out, said = controller.run("--limit", "2", "tend")
    assert (code, "gave no answer within 2 s and was killed; this was the drain of n01" in said) == (0, True)
    controller.report(MOUNT, ["n01"])
    controller.tend()
    assert len(controller.updates()) == 1


def test_a_hand_over_for_the_vendor(controller: Controller) -> None:
    controller.report(ROWS, ["n01"])
    controller.tend()
    (controller.root / "results").mkdir()
    result = {"nodes": [{"name": "n01", "verdict": "failed"}], "measures": [], "findings": []}
    (controller.root / "results/2026.json").write_text(json.dumps(result))
    code, out, said = controller.run("bundle", "n01", "--to", "a.tar.gz")
    assert (code, said) == (0, "")
    assert "ssh n01 drawbridge-node-health facts | drawbridge-health bundle n01 --node-facts -" in out
    code, out, _said = controller.run(
        "bundle", "n01", "--to", "b.tar.gz", "--node-facts", "-", given="serial 7 token=x\n"
    )
    assert (code, out) == (0, "b.tar.gz has the hand-over of n01\n")
    with tarfile.open(controller.root / "b.tar.gz") as archive:
        names = {it.name.partition("/")[2] for it in archive}
        facts = archive.extractfile(next(it for it in archive if it.name.endswith("node-facts.txt")))
        assert facts and facts.read() == b"serial 7 token=<hidden>\n"
    assert names == {"README.txt", "findings.txt", "history.jsonl", "slurm.txt", "proof.json", "node-facts.txt"}
    assert controller.run("bundle", "n01", "--to", "b.tar.gz")[0] == 2
    assert controller.run("bundle", "n99")[0] == 1
    assert controller.run("bundle", "n[01-02]")[0] == 1


@pytest.mark.parametrize("content", [None, "", "{}", "[]"])
def test_without_its_configuration_it_changes_nothing(content: str | None, controller: Controller) -> None:
    (controller.root / "place.json").unlink()
    if content is not None:
        (controller.root / "place.json").write_text(content)
    code, out, said = controller.run("tend")
    assert (code, out) == (2, "")
    assert "has no settings of drawbridge-health" in said
    assert controller.slurm().calls == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may have a folder that it can't write")
def test_a_folder_that_cannot_be_made_is_said(controller: Controller) -> None:
    (controller.root / "store").write_text("a file")
    code, _out, said = controller.run("tend")
    assert (code, "File exists" in said or "Not a directory" in said) == (2, True)

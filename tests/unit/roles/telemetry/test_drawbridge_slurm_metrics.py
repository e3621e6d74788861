# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program of Slurm's controller with no other file of this tree, and tools that print texts of files."""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_text import (
    COLUMNS,
    SEPARATOR,
)
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-slurm-metrics.py"
SOURCES = imported(PROGRAM.read_text(), source)
DRIVER = """
import importlib.machinery, importlib.util, pathlib, sys
file, root = sys.argv[1], pathlib.Path(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("program", file)
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", loader))
loader.exec_module(program)
program.PATH, program.METRICS = f"{root}/bin:/usr/bin:/bin", root / "metrics"
program.PLACE, program.NOTE = root / "place.json", root / "state/note.json"
sys.argv = [file, *sys.argv[3:]]
sys.exit(program.main())
"""
"""The program's own paths are those of a controller."""
TOOL = """#!/bin/sh
echo "$SLURM_TIME_FORMAT {name} $*" >> {root}/calls
{body}
"""
NODE = "NodeName=n1 Arch=x86_64 State=IDLE ThreadsPerCore=1 Partitions=train BootTime=5\n"
QUIET = "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"


class Controller:
    """A folder with the program and Slurm's tools."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root, self._program = root, program
        (root / "place.json").write_text('{"slurm_user": "slurm"}')
        self.prints("scontrol", NODE)
        self.prints("sdiag", "Jobs started:   3\n")
        self.jobs()

    def tool(self, name: str, body: str) -> None:
        file = self.root / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(TOOL.format(name=name, root=self.root, body=body))
        file.chmod(0o755)

    def prints(self, name: str, text: str) -> None:
        (self.root / f"{name}.txt").write_text(text)
        self.tool(name, f"cat {self.root}/{name}.txt")

    def jobs(self, *states: str) -> None:
        """Jobs of these states, which started 60 s after they could."""
        rows = [f"{at} ada nlp train {state} 9 1000 1060 1100 n1".split() for at, state in enumerate(states)]
        self.prints("squeue", "".join(f"{''.join(f'{word}{SEPARATOR}' for word in row)}\n" for row in rows))

    def run(self, *options: str) -> tuple[int, str]:
        """Exit code, and what it says."""
        # by the Python that runs the tests: they run on the oldest that controllers may have, too
        argv = [sys.executable, "-IS", "-c", DRIVER, str(self._program), str(self.root), "--limit", "300", *options]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.stdout == ""
        return done.returncode, done.stderr.strip()

    def metrics(self) -> dict[str, str]:
        lines = (self.root / "metrics/slurm.prom").read_text().splitlines()
        pairs = (line.replace("drawbridge_slurm_", "").rpartition(" ") for line in lines if line[0] != "#")
        return {name: value for name, _blank, value in pairs}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program and its modules, compiled once: on a controller it compiles nothing either."""
    root = tmp_path_factory.mktemp("local")
    found, library = root / "sbin/drawbridge-slurm-metrics", root / "lib/drawbridge-slurm-metrics"
    modules = {library / "drawbridge" / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
    for path, original in {found: PROGRAM, **modules}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(original.read_text())
    compileall.compile_dir(library, quiet=1)
    return found


@pytest.fixture
def controller(tmp_path: Path, program: Path) -> Controller:
    return Controller(tmp_path, program)


def test_it_counts_from_run_to_run(controller: Controller) -> None:
    code, said = controller.run()
    assert (code, said.partition(":")[0]) == (0, "counters begin anew")
    assert controller.metrics()['job_starts_total{partition="train"}'] == "0"
    controller.jobs("RUNNING", "COMPLETED")
    for _run in range(2):
        assert controller.run() == (0, "")
    found = controller.metrics()
    names = ("job_starts_total", "job_wait_seconds_total", "job_ends_total", "job_run_seconds_total")
    assert [found[f'{name}{{partition="train"}}'] for name in names] == ["2", "120", "1", "40"]
    assert (found["up"], found["started_jobs_total"]) == ("1", "3")
    assert found['node_job_info{node="n1",job="0",user="ada",account="nlp",partition="train"}'] == "1"


def test_each_tool_is_called_once_and_prints_seconds(controller: Controller) -> None:
    controller.run()
    calls = (controller.root / "calls").read_text().splitlines()
    assert [call.split()[:2] for call in calls] == [["%s", name] for name in ("scontrol", "squeue", "sdiag")]
    assert calls[1].count(":0") == len(COLUMNS)


@pytest.mark.parametrize("silent", ["scontrol", "squeue", "sdiag"])
def test_no_old_value_outlasts_a_silent_slurmctld(silent: str, controller: Controller) -> None:
    controller.jobs("RUNNING")
    controller.run()
    note = (controller.root / "state/note.json").read_text()
    controller.tool(silent, QUIET)
    code, said = controller.run()
    assert (code, "slurmctld is silent" in said, "Unable to contact" in said) == (0, True, True)
    assert controller.metrics() == {"up": "0"}
    assert (controller.root / "state/note.json").read_text() == note


@pytest.mark.parametrize("text", ["", "No nodes in the system\n"])
def test_a_text_without_nodes_is_no_answer(text: str, controller: Controller) -> None:
    controller.prints("scontrol", text)
    assert controller.run()[0] == 0
    assert controller.metrics() == {"up": "0"}


def test_a_tool_that_hangs_is_killed(controller: Controller) -> None:
    controller.tool("sdiag", "sleep 600")
    code, said = controller.run("--limit", "0.5")
    assert (code, "gave no answer within 0.5 s" in said) == (0, True)
    assert controller.metrics() == {"up": "0"}


def test_a_broken_note_begins_anew(controller: Controller) -> None:
    controller.run()
    (controller.root / "state/note.json").write_text("{")
    controller.jobs("RUNNING")
    assert controller.run()[0] == 0
    assert json.loads((controller.root / "state/note.json").read_text())["counts"] == {}


def test_files_are_for_those_who_need_them(controller: Controller) -> None:
    controller.run()
    modes = {path.name: path.stat().st_mode & 0o777 for path in controller.root.glob("[ms]*/*.*")}
    assert modes == {"slurm.prom": 0o644, "note.json": 0o600}


@pytest.mark.parametrize("content", [None, "", "{}", "[]"])
def test_without_its_configuration_it_measures_nothing(content: str | None, controller: Controller) -> None:
    (controller.root / "place.json").unlink()
    if content is not None:
        (controller.root / "place.json").write_text(content)
    code, said = controller.run()
    assert (code, said.startswith("no metrics of Slurm: ")) == (2, True)
    assert not (controller.root / "calls").exists()

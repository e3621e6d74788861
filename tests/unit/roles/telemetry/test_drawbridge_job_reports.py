# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program of the timer with no other file of this tree, a server that speaks as Prometheus, and stubs of Slurm."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.due import (
    MOST_JOBS,
    SETTLE_S,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import SEPARATOR
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.telemetry.job.fake_prometheus import Server, said, serving

FILES = ROOT / "roles/telemetry/files"
PROGRAM = FILES / "drawbridge-job-reports.py"
SOURCES = imported(PROGRAM.read_text(), source)
BUSY = {"gpus": (8, {}), "busy": (0.5, {})}
SACCTMGR = """#!/bin/sh
for word; do last=$word; done
case "$*" in *"jobid=13 "*) echo "Error with request: broken"; exit 1;; esac
echo "$5 $last" >> WRITTEN
"""


class Controller:
    """Slurm's controller: jobs that have ended, and what the program wrote."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.now = time.time()
        local = root / "usr/local"
        self._program = local / "sbin/drawbridge-job-reports"
        program = local / "lib/drawbridge-job-reports/drawbridge"
        modules = {program / name: ROOT / "module_utils/drawbridge" / name for name in SOURCES}
        for path, original in {self._program: PROGRAM, **modules}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(original.read_text())
        self.note = root / "note.json"
        self.note.write_text(json.dumps({"since": 0, "done": {}}))
        (root / "bin").mkdir()
        self.tool("sacctmgr", SACCTMGR.replace("WRITTEN", str(root / "written")))
        self.tool("scontrol", "#!/bin/sh\necho PartitionName=p OverSubscribe=EXCLUSIVE\n")
        self.jobs()

    def tool(self, name: str, text: str) -> None:
        (self.root / "bin" / name).write_text(text)
        (self.root / "bin" / name).chmod(0o755)

    def jobs(self, *rows: str) -> None:
        (self.root / "rows").write_text("".join(f"{row}\n" for row in rows))
        self.tool("sacct", f'#!/bin/sh\necho "$SLURM_TIME_FORMAT $*" > {self.root}/words\ncat {self.root}/rows\n')

    def row(self, name: str, comment: str = "", ended_s: float = 2 * SETTLE_S) -> str:
        ended = self.now - ended_s
        times = [f"{ended - at:.0f}" for at in (4000, 4000, 3600, 0)]
        words = [
            name,
            name,
            "ann",
            "nlp",
            "p",
            "COMPLETED",
            "0:0",
            *times,
            "60",
            "gpu01",
            "gres/gpu=8",
            "None",
            comment,
        ]
        return SEPARATOR.join(words)

    def run(self, url: str = "") -> tuple[int, str]:
        """Its exit code, and what the journal would have."""
        place = self.root / "settings.json"
        place.write_text(json.dumps({"prometheus": url or f"http://127.0.0.1:{self.server.port}"}))
        argv = [sys.executable, "-IS", str(self._program), "--place", str(place), "--note", str(self.note)]
        argv += ["--path", f"{self.root}/bin:/usr/bin:/bin", "--limit", "300"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()

    def written(self) -> list[str]:
        file = self.root / "written"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    with serving() as server:
        server.values = BUSY
        yield Controller(tmp_path, server)


TEXT = "AdminComment=drawbridge job: GPU 50 % busy, waited 00:06:40, ran 01:00:00"


def test_a_job_that_has_ended_gets_its_report_once(controller: Controller) -> None:
    controller.jobs(controller.row("17"))
    assert controller.run() == (0, "1 reports written")
    assert controller.written() == [f"jobid=17 {TEXT}"]
    words = (controller.root / "words").read_text()
    assert words.startswith("%s --allusers --starttime=now-3600seconds --endtime=now --state=COMPLETED,")
    assert controller.run() == (0, "")
    assert len(controller.written()) == 1 and len(controller.server.forms) == 4


def test_comments_of_the_gate_and_of_people_stay(controller: Controller) -> None:
    comments = (
        "drawbridge gate: try 1 of 5 (run 0): no node",
        "ben: see ticket 5",
        "drawbridge job: of an earlier end",
    )
    controller.jobs(*(controller.row(str(at), comment) for at, comment in enumerate(comments, 21)))
    assert controller.run()[0] == 0
    assert controller.written() == [f"jobid=23 {TEXT}"]


def test_the_same_text_is_not_written_again(controller: Controller) -> None:
    controller.jobs(controller.row("17", TEXT.partition("=")[2]))
    assert controller.run() == (0, "")
    assert controller.written() == []


def test_jobs_of_the_time_before_it_was_installed_get_none(controller: Controller) -> None:
    controller.note.unlink()
    controller.jobs(controller.row("17"))
    assert controller.run() == (0, "")
    assert controller.server.forms == [] and json.loads(controller.note.read_text())["done"] == {}


def test_a_silent_prometheus_leaves_jobs_to_the_next_run(controller: Controller) -> None:
    controller.jobs(controller.row("17"), controller.row("18"))
    code, text = controller.run("http://127.0.0.1:9")
    assert code == 1 and text.count("Prometheus does not answer at http://127.0.0.1:9/api/v1/query") == 1
    assert controller.run()[0] == 0
    assert [line.split()[0] for line in controller.written()] == ["jobid=17", "jobid=18"]


def test_a_refused_query_is_said_and_the_job_is_done(controller: Controller) -> None:
    """A query that is too heavy would be so in each run."""
    controller.server.values = None
    controller.server.answer(said("too_many"), 422)
    controller.jobs(controller.row("17"))
    code, text = controller.run()
    assert code == 1 and "job 17: Prometheus refused the query" in text
    assert (controller.written(), controller.run()) == ([], (0, ""))


def test_a_job_without_samples_gets_no_report(controller: Controller) -> None:
    controller.server.values = {}
    controller.jobs(controller.row("17"))
    assert controller.run() == (0, "")
    assert controller.written() == []


def test_a_report_that_accounting_refuses_stops_no_other(controller: Controller) -> None:
    controller.jobs(controller.row("13", ended_s=500), controller.row("17"))
    code, text = controller.run()
    assert code == 1 and "job 13: sacctmgr failed: Error with request: broken" in text
    assert [line.split()[0] for line in controller.written()] == ["jobid=17"]
    assert next(iter(json.loads(controller.note.read_text())["done"])).startswith("17 ")


def test_many_ends_are_seen_to_in_several_runs(controller: Controller) -> None:
    [due] = controller.root.rglob("due.py")
    due.write_text(due.read_text().replace(f"MOST_JOBS = {MOST_JOBS}\n", "MOST_JOBS = 2\n"))
    controller.jobs(*(controller.row(str(at), ended_s=1000 - at) for at in (102, 101, 103)))
    assert controller.run() == (0, "2 reports written")
    assert [line.split()[0] for line in controller.written()] == ["jobid=101", "jobid=102"]
    assert controller.run() == (0, "1 reports written")
    assert len(controller.written()) == 3


@pytest.mark.parametrize("tool", ["sacct", "scontrol"])
def test_a_silent_slurm_is_said(controller: Controller, tool: str) -> None:
    controller.jobs(controller.row("17"))
    controller.tool(tool, "#!/bin/sh\necho Slurm accounting storage is disabled >&2\nexit 1\n")
    assert controller.run() == (1, f"Slurm did not answer: {tool} failed: Slurm accounting storage is disabled")
    assert controller.written() == []


def test_without_settings_it_says_so(controller: Controller) -> None:
    argv = [sys.executable, "-I", str(controller.root / "usr/local/sbin/drawbridge-job-reports"), "--place", "/nowhere"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "/nowhere has no settings of reports" in done.stderr


def test_it_leaves_no_bytecode(controller: Controller) -> None:
    controller.run()
    assert list((controller.root / "usr").rglob("*.pyc")) == []


def test_units_start_the_program_and_keep_its_note() -> None:
    service = (FILES / "drawbridge-job-reports.service").read_text()
    assert "ExecStart=/usr/local/sbin/drawbridge-job-reports\n" in service
    assert "StateDirectory=drawbridge/job-reports\n" in service
    assert 'NOTE = Path("/var/lib/drawbridge/job-reports/note.json")' in PROGRAM.read_text()

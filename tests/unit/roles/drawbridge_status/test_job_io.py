# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge job`: where a job comes from, exit codes, and silent programs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_status.files.gate.command import Commands, Result
from roles.drawbridge_status.files.job.text import SEPARATOR
from roles.drawbridge_status.files.status import __main__ as program
from roles.drawbridge_status.files.status import job_io
from roles.drawbridge_status.files.status.job_io import NoReport, look
from roles.drawbridge_status.files.status.model import Site
from tests.unit.module_utils.telemetry.job.fake_prometheus import Server, said, serving

NOW = 1767240000.0
FIELDS = (
    *("4711", "4711", "ann", "nlp", "ai-train", "COMPLETED", "0:0", "1767225000", "1767225200", "1767225600"),
    *("1767232800", "1440", "gpu[01-02]", "gres/gpu=16", "None", ""),
)
LINE = SEPARATOR.join(FIELDS)
SILENT = Result(1, "", "Unable to contact slurm controller")
NO_SUCH = Result(1, "", "slurm_load_jobs error: Invalid job id specified")
NO_ACCOUNTING = Result(1, "", "Slurm accounting storage is disabled")
EXCLUSIVE = Result(0, "PartitionName=ai-train OverSubscribe=EXCLUSIVE State=UP")
IDLE = {"gpus": (16, {}), "busy": (0.5, {}), "idle": (0.8, {"node": "gpu02", "gpu": "3"}), "idle_gpus": (1, {})}


class Slurm(Commands):
    """Answers by the program's name."""

    def __init__(self, **answers: Result) -> None:
        self._answers = {"sacct": Result(0, LINE), "squeue": NO_SUCH, "scontrol": EXCLUSIVE, **answers}
        self.calls: list[str] = []

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        self.calls.append(argv[0])
        return self._answers[argv[0]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        made.values = IDLE
        yield made


def site(server: Server) -> Site:
    return Site(prometheus=f"http://127.0.0.1:{server.port}")


def line(**changes: str) -> str:
    places = {"name": 0, "state": 5, "started": 9, "nodes": 12, "reason": 14, "comment": 15}
    words = list(FIELDS)
    for name, word in changes.items():
        words[places[name]] = word
    return SEPARATOR.join(words)


def test_a_report_has_slurms_side_and_numbers(server: Server) -> None:
    slurm = Slurm()
    found = look("4711", slurm, site(server), NOW)
    text = found.as_text().splitlines()
    assert text[0] == "job 4711 of ann, partition ai-train, account nlp"
    assert text[1].startswith("drawbridge job: GPU 50 % busy, waited 00:06:40, ran 02:00:00; GPU 3 of gpu02 was idle")
    assert "            hint: GPU 3 of gpu02 was idle for 80 % of the time" in text
    assert (found.code, len(server.forms), slurm.calls) == (1, 4, ["sacct", "scontrol"])
    assert json.loads(found.as_json())["numbers"]["idle"][0]["value"] == 0.8


def test_without_prometheus_slurms_side_is_all(server: Server) -> None:
    found = look("4711", Slurm(), Site(), NOW)
    assert "gpu         not known: the site has configured no Prometheus" in found.as_text()
    assert (found.code, found.line, server.forms) == (0, "", [])


def test_a_silent_prometheus_is_said_and_counts(server: Server) -> None:
    server.answer(said("timed_out"), 503)
    server.values = None
    found = look("4711", Slurm(), site(server), NOW)
    assert "storage     not known: Prometheus refused the query: query timed out" in found.as_text()
    assert found.code == 3
    assert look("4711", Slurm(), Site(prometheus="http://127.0.0.1:9"), NOW).code == 3


def test_the_line_of_its_end_stays(server: Server) -> None:
    """Prometheus drops samples after weeks."""
    server.values = {}
    slurm = Slurm(sacct=Result(0, line(comment="drawbridge job: GPU 50 % busy")))
    assert look("4711", slurm, site(server), NOW).line == "drawbridge job: GPU 50 % busy"
    slurm = Slurm(sacct=Result(0, line(comment="drawbridge gate: try 1 of 5 (run 0): x")))
    assert look("4711", slurm, site(server), NOW).line == ""


@pytest.mark.parametrize("sacct", [NO_ACCOUNTING, Result(0, "")])
def test_a_job_that_only_slurmctld_has(server: Server, sacct: Result) -> None:
    """A site without accounting, or a job that has just begun."""
    slurm = Slurm(sacct=sacct, squeue=Result(0, line(state="RUNNING")))
    found = look("4711", slurm, site(server), 1767226600.0)
    assert found.report.job.state == "RUNNING" and found.report.job.ended == 0
    assert slurm.calls[:2] == ["sacct", "squeue"] and slurm.calls[-1] == "scontrol"


def test_why_a_job_waits_is_slurmctlds_to_say(server: Server) -> None:
    pending = line(state="PENDING", nodes="None assigned", started="Unknown")
    slurm = Slurm(
        sacct=Result(0, pending),
        squeue=Result(0, pending.replace(f"{SEPARATOR}None{SEPARATOR}", f"{SEPARATOR}Resources{SEPARATOR}")),
    )
    found = look("4711", slurm, site(server), NOW)
    assert "state  PENDING: Resources" in found.as_text()
    assert (found.code, server.forms) == (0, [])
    assert "state  PENDING\n" in look("4711", Slurm(sacct=Result(0, pending)), site(server), NOW).as_text()


def test_a_silent_partition_is_not_whole(server: Server) -> None:
    server.values = {"gpus": (8, {})}
    assert not look("4711", Slurm(scontrol=SILENT), site(server), NOW).report.whole


ARRAY = "\n".join(line(name=name) for name in ("4711_[5-9]", "4711_3", "4711_4"))


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"sacct": Result(0, "")}, "Slurm shows you no job 4711; with PrivateData=jobs"),
        ({"sacct": NO_ACCOUNTING}, "Slurm shows you no job 4711"),
        ({"sacct": Result(0, ""), "squeue": SILENT}, "Slurm did not answer (Unable to contact slurm controller)"),
        ({"sacct": NO_ACCOUNTING, "squeue": SILENT}, "Slurm did not answer"),
        ({"sacct": Result(0, ARRAY)}, "4711 has 3 parts: name one of them, such as 4711_3"),
    ],
)
def test_no_report(server: Server, answers: dict[str, Result], reason: str) -> None:
    with pytest.raises(NoReport) as caught:
        look("4711", Slurm(**answers), site(server), NOW)
    assert reason in str(caught.value) and server.forms == []


def test_an_element_of_an_array_is_found_by_its_name(server: Server) -> None:
    """Slurm lists all elements if the number is also the array's."""
    slurm = Slurm(sacct=Result(0, ARRAY))
    assert look("4711_4", slurm, site(server), NOW).report.job.name == "4711_4"


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    settings: Any = site(server)
    monkeypatch.setattr(program, "site", lambda: (settings, ()))
    monkeypatch.setattr(program, "Commands", Slurm)
    monkeypatch.setenv("SLURM_TIME_FORMAT", "standard")
    assert program.main(["job", "4711"]) == 1
    assert capsys.readouterr().out.startswith("job 4711 of ann")
    assert os.environ["SLURM_TIME_FORMAT"] == "%s"
    assert program.main(["job", "4711", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["level"] == 1
    monkeypatch.setattr(program, "Commands", lambda: Slurm(sacct=NO_ACCOUNTING))
    assert program.main(["job", "4711"]) == 3
    assert "drawbridge: Slurm shows you no job 4711" in capsys.readouterr().err


def test_what_the_program_shows_has_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_TIME_FORMAT", "")
    monkeypatch.setattr(program, "site", lambda: (Site(), ()))
    monkeypatch.setattr(program, "Commands", lambda: Slurm(sacct=Result(0, line(comment="drawbridge job: \x1b[2J"))))
    assert program.main(["job", "4711"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("word", ["4711;", "-1x", "4711_[1-3]", "job"])
def test_a_wrong_number_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(["job", word])
    assert caught.value.code == 2


def test_it_is_installed_with_the_program() -> None:
    """tasks/main.yml copies these folders."""
    role = Path(job_io.__file__).parents[2]
    [names] = re.findall(r"lookup\('drawbridge.drawbridge.program', (.*)\) }}", (role / "tasks/main.yml").read_text())
    assert {"'budget'", "'gate'", "'job'", "'status'"} <= {*names.split(", ")}


class Budgets(Slurm):
    """Its job waits."""

    def __init__(self, reason: str) -> None:
        super().__init__(squeue=Result(0, line(state="PENDING", started="N/A", nodes="", reason=reason)))

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        if "--format=%q" in argv:
            return Result(0, "gold\n")
        if "assoc_mgr" in argv:
            return Result(
                0, "QOS=gold(3) UsageRaw=9.0 GrpTRESMins=gres/gpu=600(540) GrpTRESRunMins=gres/gpu=N(30) Max=\n"
            )
        return Result(0, "") if argv[0] == "sacct" else super().run(*argv, timeout_s=timeout_s)


def test_a_job_that_waits_for_its_budget_has_the_numbers() -> None:
    found = look("4711", Budgets("QOSGrpGRESMinutes"), Site(budgets={"gold": "month"}), NOW)
    said = (
        "9 of 10 GPU hours are used, and running jobs may use 0.5 more, so 0.5 are left; it begins anew on 2026-02-01"
    )
    assert f"hint: its time limit does not fit into the budget of QOS gold: {said}" in found.as_text()
    # it is as it should be
    assert found.code == 0


def test_a_limit_of_the_account_is_said_and_other_reasons_are_slurms() -> None:
    assert "which Drawbridge does not set" in look("4711", Budgets("AssocGrpGRESMinutes"), Site(), NOW).as_text()
    assert "hint" not in look("4711", Budgets("Priority"), Site(), NOW).as_text()

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import Unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import io as slurmctld
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.io import (
    Safeguards,
    Slurmctld,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.plan import (
    TakeoverState,
    plan,
)

from tests.unit.module_utils.answers import Answer, Answers, show
from tests.unit.module_utils.core.test_files import mine

HEADER = "# Managed by Drawbridge: change the inventory, not this file.\n"
OLD = f"{HEADER}old\n"
MATCH, OTHER = "HASH_VAL = Match\n", "HASH_VAL = Different Ours=0x1 Slurmctld=0x2\n"
RECONFIGURE = partial(plan, refresh="reconfigure")
SILENT = DeviceError("scontrol gave no answer within 30 s and was killed")


def answers(**changes: Answer) -> Answers:
    table: dict[str, Answer] = {
        "systemctl show --property User": changes.get("user", "slurm\n"),
        "systemctl show": show(),
        "scontrol show config": changes.get("config", MATCH),
        "squeue": changes.get("jobs", ""),
        "scontrol reconfigure": changes.get("reconfigure", ""),
        "journalctl": changes.get("journal", ""),
        "slurmctld -V": changes.get("version", "slurm-wlm 24.11.5\n"),
    }
    return Answers(table)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "slurm.conf"
    path.write_text(OLD)
    path.chmod(0o644)
    return path


class Trial:
    """Stands for the slurmctld that tries new files."""

    def __init__(self, refusal: str = "") -> None:
        self.refusal = refusal
        self.seen: list[str] = []

    def __call__(self, conf: str, texts: Mapping[str, str]) -> None:
        self.seen.append(texts[conf])
        if self.refusal:
            raise DeviceError(self.refusal)


def device(
    conf: Path, run: Answers, text: str = "new\n", wait_s: float = 0, trial: Trial | None = None
) -> tuple[Slurmctld, TakeoverState]:
    want = TakeoverState("slurmctld.service", {str(conf): mine(text)})
    safe = Safeguards(str(conf), "24.11", trial or Trial(), wait_s)
    return Slurmctld(Unit("slurmctld.service", run), want, run, safe), want


def test_a_file_that_no_command_can_parse_is_not_what_the_daemon_runs_with(conf: Path) -> None:
    broken = DeviceError("scontrol failed: fatal: Unable to process configuration file", rc=1)
    daemon, _ = device(conf, answers(config=broken, jobs=broken), OLD)
    state = daemon.read()
    assert (state.current, daemon.busy()) == (False, "")


@pytest.mark.parametrize("row", ["7|CONFIGURING|None", "7|RUNNING|Prolog"])
def test_nothing_changes_while_a_prolog_runs(conf: Path, row: str) -> None:
    run = answers(jobs=f"6|RUNNING|None\n{row}\n")
    daemon, want = device(conf, run)
    outcome = converge(daemon, RECONFIGURE, want, in_use=daemon.busy)
    assert outcome.steps == []
    assert "job 7 is in its prolog" in outcome.pending[0]
    assert conf.read_text() == OLD
    assert "scontrol reconfigure" not in run.asked


def test_a_prolog_that_ends_in_time_is_waited_for(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = answers(jobs="7|RUNNING|Prolog\n")
    daemon, _ = device(conf, run, wait_s=30)
    monkeypatch.setattr("time.sleep", lambda seconds: run.table.update(squeue=""))
    assert daemon.busy() == ""


def test_refused_files_are_restored_with_the_reason(conf: Path) -> None:
    refusal = DeviceError("scontrol failed", rc=1, stderr='scontrol: error: Bad value "9:9" for MaxTime\n')
    daemon, want = device(conf, answers(reconfigure=refusal))
    outcome = converge(daemon, RECONFIGURE, want)
    assert outcome.error == 'slurmctld refused the files and goes on with the old ones: Bad value "9:9" for MaxTime'
    assert conf.read_text() == OLD
    assert not outcome.changed


TIMED_OUT = "Socket timed out on send/recv operation\n"


def test_a_reconfigure_that_takes_too_long_to_answer_has_taken_effect(conf: Path) -> None:
    """As it does while a new node's name does not resolve (24.11.5): rc 1, and slurmctld runs with the new files."""
    silent = DeviceError("scontrol failed: Socket timed out", rc=1, stderr=f"slurm_reconfigure error: {TIMED_OUT}")
    daemon, want = device(conf, answers(reconfigure=silent))
    outcome = converge(daemon, RECONFIGURE, want)
    assert not outcome.error
    assert conf.read_text() == "new\n"


def test_a_daemon_that_has_the_old_files_after_the_timeout_has_refused_the_new_ones(
    conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurmctld, "LATE_S", 0.2)
    monkeypatch.setattr(slurmctld, "POLL_S", 0.05)
    silent = DeviceError("scontrol failed: Socket timed out", rc=1, stderr=TIMED_OUT)
    run = answers(reconfigure=silent, config=OTHER)
    daemon, want = device(conf, run)
    assert "goes on with the old ones" in converge(daemon, RECONFIGURE, want).error
    assert conf.read_text() == OLD
    assert run.asked.count("scontrol show config") > 3


def test_a_refused_file_that_was_new_is_gone_again(tmp_path: Path) -> None:
    daemon, want = device(tmp_path / "new.conf", answers(reconfigure=DeviceError("no", rc=1), journal="fatal: bad\n"))
    outcome = converge(daemon, RECONFIGURE, want)
    assert outcome.error.endswith("with the old ones: bad")
    assert not (tmp_path / "new.conf").exists()


@pytest.mark.parametrize("check", [False, True])
def test_files_that_slurm_would_refuse_are_not_installed(conf: Path, check: bool) -> None:
    run = answers()
    daemon, want = device(conf, run, trial=Trial("Slurm refuses the new files, so the old ones stay: Bad value"))
    with pytest.raises(DeviceError, match="Bad value"):
        converge(daemon, RECONFIGURE, want, check=check)
    assert conf.read_text() == OLD
    assert "scontrol reconfigure" not in run.asked


def test_new_files_are_tried_once_and_old_ones_never(conf: Path) -> None:
    trial, run = Trial(), answers()
    daemon, want = device(conf, run, trial=trial)
    assert converge(daemon, RECONFIGURE, want).steps[-1].startswith("reconfigure slurmctld.service")
    assert (trial.seen, conf.read_text(), "scontrol reconfigure" in run.asked) == (["new\n"], "new\n", True)
    daemon, want = device(conf, answers(), trial=trial)
    converge(daemon, RECONFIGURE, want)
    assert trial.seen == ["new\n"]


# slurm 24.11.5, captured
RUNNING = f"""\
ClusterName             = lab
SlurmUser               = slurm(64030)
SlurmctldPort           = 6817
StateSaveLocation       = /var/spool/slurmctld
{MATCH}"""


@pytest.mark.parametrize(
    ("line", "version", "sentence"),
    [
        ("ClusterName=other", "24.11.5", "change ClusterName from lab to other"),
        ("SlurmctldPort=7000", "24.11.5", "change SlurmctldPort from 6817 to 7000"),
        ("StateSaveLocation=/x", "24.11.5", "change StateSaveLocation from /var/spool/slurmctld to /x"),
        ("ClusterName=lab", "25.05.1", r"version is 24\.11, but slurmctld here is 25\.05"),
    ],
)
def test_another_release_and_values_that_a_running_cluster_keeps_are_refused(
    conf: Path, line: str, version: str, sentence: str
) -> None:
    run = answers(config=RUNNING, version=f"slurm-wlm {version}\n")
    daemon, want = device(conf, run, f"SlurmUser=slurm\n{line}\n")
    with pytest.raises(DeviceError, match=sentence):
        converge(daemon, RECONFIGURE, want)
    assert conf.read_text() == OLD


def test_a_daemon_that_reads_files_of_another_folder_is_refused_unless_that_is_a_link(conf: Path) -> None:
    other = conf.parent / "opt"
    other.mkdir()
    (other / "slurm.conf").write_text(OLD)
    running = f"{MATCH}SLURM_CONF = {other}/slurm.conf\n"
    daemon, want = device(conf, answers(config=running))
    with pytest.raises(DeviceError, match=f"reads {other}/slurm.conf.*leave a link to it at {other}"):
        converge(daemon, RECONFIGURE, want)
    assert conf.read_text() == OLD
    (other / "slurm.conf").unlink()
    other.rmdir()
    other.symlink_to(conf.parent)
    daemon, want = device(conf, answers(config=running))
    assert converge(daemon, RECONFIGURE, want).error == ""


def test_a_late_answer_counts(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = answers(config=SILENT)
    monkeypatch.setattr("time.sleep", lambda seconds: run.table.update({"scontrol show config": MATCH}))
    daemon, want = device(conf, run, OLD)
    assert converge(daemon, RECONFIGURE, want).steps == []
    assert run.asked.count("scontrol show config") > 1


def test_a_daemon_that_never_answers_gets_another_look_at_its_files(
    conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurmctld, "POLL_S", 0)
    run = answers(config=SILENT)
    daemon, _ = device(conf, run, OLD)
    assert not daemon.read().current
    assert run.asked.count("scontrol show config") == slurmctld.TRIES

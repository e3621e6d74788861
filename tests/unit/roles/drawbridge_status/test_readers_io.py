# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What answers and what does not: missing rights are normal, a silent Slurm or API server is not.

Exit codes of a check: 0 none, 3 drift, otherwise Ansible's own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from roles.drawbridge_status.files.gate.command import Commands, Result
from roles.drawbridge_status.files.status import readers_io
from roles.drawbridge_status.files.status.drift_io import PLAYBOOK, drift, folder
from roles.drawbridge_status.files.status.options import parser
from roles.drawbridge_status.files.status.readers_io import Readers, site

EVENTS = "2026-11-24T09:12:40|DRAIN|new fan|ben(1002)\n"
SLURM = {
    "sacctmgr": Result(0, EVENTS),
    "scontrol": Result(0, "NodeName=gpu01 State=IDLE Partitions=p\n"),
    "squeue": Result(0),
}


class Canned(Commands):
    """Answers by the program's name."""

    def __init__(self, answers: dict[str, Result]) -> None:
        self._answers = answers

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        return self._answers[argv[0]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person with kubectl and a kubeconfig."""
    (tmp_path / "kubectl").touch(0o755)
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").touch()
    return tmp_path


def readers(home: Path, **answers: Result) -> Readers:
    return Readers(Canned({**SLURM, **answers}), {"HOME": str(home), "PATH": str(home)})


@pytest.mark.parametrize(
    ("kubectl", "known", "blind", "note"),
    [
        (Result(0, "gpu01\t\tTrue\tdrawbridge.io/slurm=closed \t\n"), True, False, ""),
        (Result(1, "", "Error (Forbidden): nodes is forbidden"), False, False, "you may not read nodes"),
        (Result(1, "", "Unable to connect to the server"), False, True, "Kubernetes did not answer (Unable to connect"),
    ],
)
def test_an_answer_of_kubernetes(home: Path, kubectl: Result, known: bool, blind: bool, note: str) -> None:
    seen = readers(home, kubectl=kubectl).look(home / "reports")
    assert (seen.members is not None, seen.blind) == (known, blind)
    assert not note or any(note in said for said in seen.notes)
    assert list(seen.slurm) == ["gpu01"]


@pytest.mark.parametrize(
    ("missing", "note"), [("kubectl", "kubectl is not installed"), (".kube/config", "you have no kubeconfig")]
)
def test_a_user_without_kubernetes_sees_slurms_side(home: Path, missing: str, note: str) -> None:
    (home / missing).unlink()
    seen = readers(home).look(home)
    assert (seen.members, seen.blind) == (None, False)
    assert f"{note}, so only Slurm's side is shown" in seen.notes


def test_a_silent_slurm_is_said(home: Path) -> None:
    (home / "kubectl").unlink()
    seen = readers(home, scontrol=Result(1, "", "Unable to contact slurm controller")).look(home)
    assert seen.blind
    assert "Slurm did not answer (scontrol: Unable to contact slurm controller)" in seen.notes


def test_reports_of_runs_are_read_and_checks_are_not(home: Path) -> None:
    runs = [("2026-11-24", False, "old"), ("2026-11-25", False, "new"), ("2026-11-26", True, "check")]
    for started, check, text in runs:
        findings = [{"kind": "pending", "text": text, "hosts": "gpu01"}]
        report = {"started": started, "check": check, "playbook": "site.yml", "names": "gpu[01-02]"}
        (home / f"{started}.json").write_text(json.dumps({**report, "findings": findings}))
    (home / "broken.json").write_text("{")
    seen = readers(home, kubectl=Result(0)).look(home)
    assert seen.runs["gpu01"].findings == (("pending", "new"),)
    assert seen.runs["gpu02"].findings == ()
    assert any("broken.json can't be read" in note for note in seen.notes)


def test_a_proof_may_be_older_than_the_latest_run(home: Path) -> None:
    """A file may hold the reports of several runs."""
    runs = [("2026-11-23", "gpu[01-02]"), ("2026-11-24", "gpu02"), ("2026-11-25", "")]
    reports = [{"started": at, "playbook": "site.yml", "names": "gpu[01-02]", "proved": proved} for at, proved in runs]
    (home / "runs.json").write_text(json.dumps([*reports, "not a report"]))
    seen = readers(home, kubectl=Result(0)).look(home)
    assert {name: run.started for name, run in seen.proofs.items()} == {"gpu01": "2026-11-23", "gpu02": "2026-11-24"}
    assert seen.runs["gpu01"].started == "2026-11-25"


def test_units_are_slurms_lowest_switches(home: Path) -> None:
    lines = (
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu[01-02] \nSwitchName=fabric Level=1 LinkSpeed=1 Switches=leaf1\n"
    )
    assert readers(home, scontrol=Result(0, lines)).units() == {"leaf1": "gpu[01-02]"}
    assert readers(home, scontrol=Result(1, "", "topology plugin is not tree")).units() == {}


NODE = Result(0, json.dumps({"metadata": {}, "spec": {}}))


class Kubectl(Canned):
    """Answers the list of nodes and one Node object differently."""

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        return super().run("node" if "node" in argv and argv[0] == "kubectl" else argv[0])


@pytest.mark.parametrize(
    ("answer", "writers", "note"),
    [
        (Result(0, json.dumps({"metadata": {}, "spec": {"taints": [{"key": "repair"}]}})), 1, ""),
        (Result(1, "", "Unable to connect"), 0, "who changed gpu01 in Kubernetes is not known (Unable to connect)"),
    ],
)
def test_the_writers_of_a_node_that_is_explained(home: Path, answer: Result, writers: int, note: str) -> None:
    answers = {**SLURM, "kubectl": Result(0, "gpu01\t\tTrue\tdrawbridge.io/slurm=closed \t\n"), "node": answer}
    found = Readers(Kubectl(answers), {"HOME": str(home), "PATH": str(home)})
    assert found.look(home).actors == {}
    seen = found.look(home, "gpu01")
    assert len(seen.actors["gpu01"]) == writers + 1, "and the drain of Slurm's accounting"
    assert not note or note in seen.notes
    assert [actor.who for actor in found.look(home, "elsewhere").actors["elsewhere"]] == ["ben"]


def test_the_audit_log_names_users_if_it_can_be_read(home: Path) -> None:
    answers = {**SLURM, "kubectl": Result(0, "gpu01\t\tTrue\tdrawbridge.io/slurm=closed \t\n"), "node": NODE}
    found = Readers(Kubectl(answers), {"HOME": str(home), "PATH": str(home)})
    log = home / "audit.log"
    assert "the audit log can't be read" in found.look(home, "gpu01", str(log)).notes[-2]
    write = {"verb": "patch", "stage": "ResponseComplete", "objectRef": {"resource": "nodes", "name": "gpu01"}}
    log.write_text(f"{json.dumps({**write, 'user': {'username': 'ann'}})}\n")
    assert [actor.who for actor in found.look(home, "gpu01", str(log)).actors["gpu01"]] == ["ben", "ann"]


@pytest.fixture
def history(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The older file and the newer one, which do not exist."""
    files = (home / "history.jsonl.1", home / "history.jsonl")
    monkeypatch.setattr(readers_io, "HISTORY", files)
    monkeypatch.setattr(readers_io.time, "time", lambda: 1000.0)
    return files


def test_the_history_of_a_node_that_is_explained(home: Path, history: tuple[Path, Path]) -> None:
    found = readers(home, kubectl=Result(0))
    assert found.look(home, "gpu01").history == {"gpu01": ()}
    for file, time in zip(history, (1, 2)):
        file.write_text(f"{json.dumps({'time': time, 'node': 'gpu01', 'what': 'found', 'text': 'x'})}\n")
    assert [it.time for it in found.look(home, "gpu01").history["gpu01"]] == [1, 2]
    assert found.look(home, "gpu02").history == {"gpu02": ()}
    assert found.look(home).history == {}


def test_a_history_without_rights_is_said(home: Path, history: tuple[Path, Path]) -> None:
    history[0].mkdir()
    seen = readers(home, kubectl=Result(0)).look(home, "gpu01")
    assert any(note.startswith("the history of its health can't be read") for note in seen.notes)
    assert not any("its health" in note for note in readers(home, kubectl=Result(0)).look(home).notes)


def test_an_open_breaker_is_said(home: Path) -> None:
    lines = "NodeName=gpu01 State=IDLE Partitions=p Comment=drawbridge health: {kept: breaker site is open}\n"
    notes = readers(home, kubectl=Result(0), scontrol=Result(0, lines)).look(home).notes
    assert any(note.startswith("breaker site is open") for note in notes)


def test_without_accounting_there_are_no_drains(home: Path) -> None:
    (home / "kubectl").unlink()
    seen = readers(home, sacctmgr=Result(1, "", "You are not running a supported accounting_storage plugin"))
    assert seen.look(home, "gpu01").actors == {"gpu01": ()}


def test_settings_of_the_site(tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    assert "is missing" in site(file)[1][0]
    file.write_text("{")
    assert "can't be read" in site(file)[1][0]
    file.write_text('{"gated": ["ai-train"], "reports": "/r", "later": 1}')
    found, notes = site(file)
    assert (found.gated, found.reports, notes) == (["ai-train"], "/r", ())


FAKE = """#!/bin/sh
echo "$@" > "$SAID"
[ -z "$FINDINGS" ] || { printf '{"findings": %s}' "$FINDINGS" > "$DRAWBRIDGE_REPORT_JSON.new"
mv "$DRAWBRIDGE_REPORT_JSON.new" "$DRAWBRIDGE_REPORT_JSON"; }
exit $CODE
"""


@pytest.mark.parametrize(
    ("findings", "code", "exits", "said"),
    [
        ("[]", "0", 0, ""),
        ('[{"kind": "changed"}]', "0", 3, ""),
        ('[{"kind": "failed"}]', "2", 2, ""),
        ("", "4", 4, ""),
        ("", "0", 1, "enable the callback drawbridge.drawbridge.report"),
    ],
)
def test_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, findings: str, code: str, exits: int, said: str
) -> None:
    program = tmp_path / "ansible-playbook"
    program.write_text(FAKE)
    program.chmod(0o755)
    (tmp_path / "drift.json").write_text('{"findings": []}')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SAID": str(tmp_path / "said"), "FINDINGS": findings, "CODE": code}
    found, text = drift(["-i", "inventories/mine"], tmp_path, env)
    assert found == exits
    assert said in text and bool(said) == bool(text)
    assert (tmp_path / "said").read_text() == "--check playbooks/drift.yml -i inventories/mine\n"


def test_without_ansible_the_error_says_where_to_run_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, text = drift([], tmp_path, {"PATH": str(tmp_path)})
    assert code == 1 and "run drawbridge drift where Ansible is installed" in text


@pytest.mark.parametrize(
    ("path", "uid", "mode"), [(".", 0, 0o1777), ("playbooks", 2001, 0o755), (PLAYBOOK, 2001, 0o644)]
)
def test_no_playbook_of_another_user_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, uid: int, mode: int
) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / PLAYBOOK).touch()
    os.chown(tmp_path / path, uid, -1)
    (tmp_path / path).chmod(mode)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, text = drift([], tmp_path, {"PATH": str(tmp_path)})
    assert code == 1 and "is not run, because" in text


def test_where_reports_are_kept() -> None:
    assert folder("", {"HOME": "/home/ada"}) == Path("/home/ada/.local/state/drawbridge")
    assert folder("", {"HOME": "/home/ada", "XDG_STATE_HOME": "/s"}) == Path("/s/drawbridge")
    assert folder("/var/lib/drawbridge", {}) == Path("/var/lib/drawbridge")


def test_options_of_ansible_follow_two_dashes() -> None:
    given = parser().parse_args(["drift", "--state", "/s", "--", "-i", "hosts", "--limit", "ctl"])
    assert (given.state, given.words[-4:]) == ("/s", ["-i", "hosts", "--limit", "ctl"])


@pytest.mark.parametrize("line", ["status gpu[01", "status --watch 0", "status --watch soon", "nothing"])
def test_a_wrong_line_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(line.split())
    assert line.split()[-1] in capsys.readouterr().err

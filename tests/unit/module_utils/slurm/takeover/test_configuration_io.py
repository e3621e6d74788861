# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import getpass
import grp
import os
import time
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import Unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.text import HEADER, HIDDEN
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.configuration_io import (
    Configured,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.io import Site
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.plan import (
    TakeoverState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.report import dropped

from tests.unit.module_utils.answers import Answers, show


def mine(text: str | None, mode: str = "0644") -> Entry:
    return Entry(text, mode, getpass.getuser(), grp.getgrgid(os.getgid()).gr_name)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text("Include more.conf\nMailProg=/opt/mail\n")
    (tmp_path / "more.conf").write_text("KillWait=45\n")
    return tmp_path


def device(place: Path, want: dict[str, Entry], secrets: dict[str, str] | None = None) -> Configured:
    run = Answers({"systemctl show": show(begun_us=int(time.monotonic() * 1e6) + 10**9), "systemctl": ""})
    site = Site(secrets=secrets or {}, copies=f"{place}/before")
    return Configured(Unit("slurmctld.service", run), TakeoverState("slurmctld.service", want), site=site)


def run(daemon: Configured, consents: dict[str, bool]) -> Outcome:
    return converge(daemon, plan, daemon._want, options=consents)


def test_a_file_of_the_site_is_copied_before_it_is_written(place: Path) -> None:
    path, old = f"{place}/slurm.conf", (place / "slurm.conf").read_text()
    daemon = device(place, {path: mine(f"{HEADER}\nKillWait=45\nMailProg=/opt/mail\n")})
    outcome = run(daemon, {"may_drop": True})
    assert outcome.error == ""
    copy = place / f"before{path}"
    assert copy.read_text() == old
    assert copy.stat().st_mode & 0o777 == 0o600
    assert (place / "slurm.conf").read_text().startswith(HEADER)


def test_without_consent_nothing_is_copied_or_written(place: Path) -> None:
    path = f"{place}/slurm.conf"
    daemon = device(place, {path: mine(f"{HEADER}\nKillWait=45\n")})
    outcome = run(daemon, {})
    assert "1 lines of the live Slurm would vanish" in outcome.error
    assert not (place / "before").exists()
    assert "MailProg" in (place / "slurm.conf").read_text()
    assert [it.old for it in dropped(daemon.taken_over)] == ["MailProg=/opt/mail"]


def test_lines_of_an_included_file_beside_it_count(place: Path) -> None:
    daemon = device(place, {f"{place}/slurm.conf": mine(f"{HEADER}\nMailProg=/opt/mail\n")})
    daemon.read()
    assert [it.old for it in dropped(daemon.taken_over)] == ["KillWait=45"]


def test_the_first_copy_stays(place: Path) -> None:
    path = f"{place}/slurm.conf"
    for text in ("MailProg=/first\n", "MailProg=/second\n"):
        (place / "slurm.conf").write_text(text)
        run(device(place, {path: mine(f"{HEADER}\n")}), {"may_drop": True})
    assert (place / f"before{path}").read_text() == "MailProg=/first\n"


def test_a_password_is_in_the_file_and_in_no_state(place: Path) -> None:
    path = f"{place}/slurmdbd.conf"
    want = {path: mine(f"{HEADER}\nStoragePass={HIDDEN}\n", "0600")}
    daemon = device(place, want, secrets={"StoragePass": "top secret"})
    outcome = run(daemon, {})
    assert outcome.error == ""
    assert "top secret" not in str(outcome)
    assert 'StoragePass="top secret"\n' in Path(path).read_text()
    assert plan(daemon.read(), daemon._want) == []


def test_another_password_is_a_change(place: Path) -> None:
    path = f"{place}/slurmdbd.conf"
    Path(path).write_text(f"{HEADER}\nStoragePass=old\n")
    Path(path).chmod(0o600)
    daemon = device(place, {path: mine(f"{HEADER}\nStoragePass={HIDDEN}\n", "0600")}, secrets={"StoragePass": "new"})
    outcome = run(daemon, {})
    assert outcome.changed
    assert "old" not in outcome.diff["before"].replace("hidden", "")
    assert Path(path).read_text() == f"{HEADER}\nStoragePass=new\n"

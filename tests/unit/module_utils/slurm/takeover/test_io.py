# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import Unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.text import HEADER
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import environment
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.io import Site, TakenOver
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.plan import (
    TakeoverState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.report import dropped

from tests.unit.module_utils.answers import Answers, show
from tests.unit.module_utils.core.test_files import mine


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environment, "FOLDERS", (str(tmp_path),))
    return tmp_path


def device(place: Path, want: dict[str, Entry], cls: Any = TakenOver, **site: Any) -> Any:
    run = Answers({"systemctl show": show(begun_us=int(time.monotonic() * 1e6) + 10**9), "systemctl": ""})
    unit, state = Unit("slurmd.service", run), TakeoverState("slurmd.service", want)
    return cls(unit, state, site=Site(copies=f"{place}/before", **site))


def run(daemon: TakenOver, **consents: bool) -> Outcome:
    return converge(daemon, plan, daemon._want, options=consents)


def test_variables_of_the_site_need_consent_and_are_copied(place: Path) -> None:
    path = place / "slurmd"
    path.write_text("A=1\nStoragePass=secret\n")
    want = {str(path): mine(f"{HEADER}\nSLURMD_OPTIONS=-D\n")}
    daemon = device(place, want)
    refused = run(daemon)
    assert "2 lines of the live Slurm would vanish" in refused.error
    assert [it.old for it in dropped(daemon.taken_over)] == ["A=1", "StoragePass=(another one, hidden)"]
    assert path.read_text() == "A=1\nStoragePass=secret\n"
    assert not (place / "before").exists()
    assert run(device(place, want), may_drop=True).error == ""
    copy = place / f"before{path}"
    assert copy.read_text() == "A=1\nStoragePass=secret\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert path.read_text().startswith(HEADER)


def test_files_beside_a_stale_copy_are_read_no_more_and_need_consent(place: Path) -> None:
    (place / "plugstack.conf").write_text("required lua.so\n")
    (place / "mpi.conf").write_text("# of the package\ninclude /etc/slurm/mpi.conf.d/*\n")
    stale = [f"{place}/slurm.conf"]
    assert run(device(place, {}, stale=stale)).error == ""
    (place / "slurm.conf").write_text("ClusterName=old\n")
    daemon = device(place, {}, stale=stale)
    assert "1 lines of the live Slurm would vanish" in run(daemon).error
    assert [it.old for it in dropped(daemon.taken_over)] == ["all of plugstack.conf"]
    assert run(device(place, {}, stale=stale), may_drop=True).error == ""
    assert (place / f"before{place}/plugstack.conf").exists() and not (place / "slurm.conf").exists()


def test_a_stale_copy_of_the_site_is_moved_and_drawbridges_file_stays(place: Path) -> None:
    theirs, ours = f"{place}/slurm.conf", f"{place}/ours.conf"
    Path(theirs).write_text("MailProg=/opt/mail\n")
    Path(ours).write_text(f"{HEADER}\n")
    outcome = run(device(place, {}, stale=(theirs, ours)))
    assert outcome.error == ""
    assert not Path(theirs).exists()
    assert Path(f"{place}/before{theirs}").exists()
    assert Path(ours).exists()

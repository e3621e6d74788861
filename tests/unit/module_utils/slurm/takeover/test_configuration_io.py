# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.text import HEADER, HIDDEN
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import configuration_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.plan import (
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.report import dropped

from tests.unit.module_utils.core.test_files import mine
from tests.unit.module_utils.slurm.takeover.test_io import device, run

configured = partial(device, cls=configuration_io.Configured)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text("Include more.conf\nMailProg=/opt/mail\n")
    (tmp_path / "more.conf").write_text("KillWait=45\n")
    return tmp_path


def test_lines_of_a_file_of_the_site_and_of_those_beside_it_that_it_includes_count(place: Path) -> None:
    path = place / "slurm.conf"
    daemon = configured(place, {str(path): mine(f"{HEADER}\n")})
    outcome = run(daemon)
    assert "2 lines of the live Slurm would vanish" in outcome.error
    assert [it.old for it in dropped(daemon.taken_over)] == ["KillWait=45", "MailProg=/opt/mail"]
    assert not (place / "before").exists() and "MailProg" in path.read_text()


def test_the_first_copy_stays(place: Path) -> None:
    path = f"{place}/slurm.conf"
    for text in ("MailProg=/first\n", "MailProg=/second\n"):
        (place / "slurm.conf").write_text(text)
        run(configured(place, {path: mine(f"{HEADER}\n")}), may_drop=True)
    assert (place / f"before{path}").read_text() == "MailProg=/first\n"


def test_a_password_is_in_the_file_and_in_no_state(place: Path) -> None:
    path = f"{place}/slurmdbd.conf"
    want = {path: mine(f"{HEADER}\nStoragePass={HIDDEN}\n", "0600")}
    daemon = configured(place, want, secrets={"StoragePass": "top secret"})
    outcome = run(daemon)
    assert outcome.error == ""
    assert "top secret" not in str(outcome)
    assert 'StoragePass="top secret"\n' in Path(path).read_text()
    assert plan(daemon.read(), daemon._want) == []

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
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


@pytest.mark.parametrize(
    ("text", "why"),
    [("Include gone.conf\n", "gone.conf, which is missing"), ("Include %c.conf\n", "which no line before it sets")],
)
def test_an_included_file_that_can_not_be_read_is_no_empty_one(place: Path, text: str, why: str) -> None:
    path = place / "slurm.conf"
    path.write_text(text)
    with pytest.raises(DeviceError, match=why):
        run(configured(place, {str(path): mine(f"{HEADER}\n")}), may_drop=True)
    assert path.read_text() == text


def test_an_included_file_may_be_a_link(place: Path) -> None:
    (place / "more.conf").rename(place / "other.conf")
    (place / "more.conf").symlink_to("other.conf")
    daemon = configured(place, {f"{place}/slurm.conf": mine(f"{HEADER}\n")})
    run(daemon)
    assert [it.old for it in dropped(daemon.taken_over)] == ["KillWait=45", "MailProg=/opt/mail"]


def test_a_topology_that_would_win_is_compared_and_moved_before_the_daemon_reads(place: Path) -> None:
    (place / "slurm.conf").write_text(f"{HEADER}\n")
    (place / "topology.yaml").write_text("- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: 'a[1-2]'}\n")
    want = {f"{place}/slurm.conf": mine(f"{HEADER}\n"), f"{place}/topology.conf": mine(f"{HEADER}\n")}
    stale = [f"{place}/topology.yaml"]
    daemon = configured(place, want, stale=stale)
    assert "1 lines of the live Slurm would vanish" in run(daemon).error
    assert [it.old for it in dropped(daemon.taken_over)] == ["SwitchName=s Nodes=a[1-2]"]
    verbs = [step.payload[0] for step in plan(daemon.read(), daemon._want, "reconfigure")]
    assert verbs == ["copy", "move", "write", "refresh"]
    assert run(configured(place, want, stale=stale), may_drop=True).error == ""
    assert not (place / "topology.yaml").exists() and (place / f"before{place}/topology.yaml").exists()


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

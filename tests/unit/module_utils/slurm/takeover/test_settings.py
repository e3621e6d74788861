# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model, settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.text import lines

NEW = """SlurmctldHost=ctl
KillWait=30
ReturnToService=0
PrologFlags=Alloc
JobSubmitPlugins=lua
Prolog=/ours/prolog
SlurmctldPort=6817
AccountingStorageTRES=gres/gpu,gres/gpu:h100
"""


def found(old: str, scripts: dict[str, list[str]] | None = None) -> list[tuple[str, str, tuple[str, ...]]]:
    changes = settings.compared(settings.TABLES["slurm.conf"], lines(old), lines(NEW), scripts or {})
    return [(it.group, it.old, it.keep) for it in changes if it.old]


@pytest.mark.parametrize(
    ("line", "group", "keep"),
    [
        ("killwait=30", model.KEPT, ()),
        ("KillWait=45", model.DROPPED, ()),
        ("ReturnToService=2", model.OURS, ()),
        ("SlurmctldPort=7817", model.DROPPED, ("settings", "SlurmctldPort")),
        ("MailProg=/opt/mail", model.DROPPED, ("settings", "MailProg")),
        ("Prolog=/opt/prolog", model.DROPPED, ("scripts", "prolog")),
        ("AccountingStorageTRES=gres/gpu", model.OURS, ()),
        ("PrologFlags=RunInJob", model.OURS, ()),
        ("DebugFlags=no_conf_hash", model.OURS, ()),
        ("PrologFlags=X11", model.DROPPED, ("settings", "PrologFlags")),
        ("PrologFlags=alloc", model.KEPT, ()),
        ("JobSubmitPlugins=lua", model.KEPT, ()),
        ("JobSubmitPlugins=lua,require_timelimit", model.DROPPED, ("settings", "JobSubmitPlugins")),
        ("SlurmctldHost=ctl", model.KEPT, ()),
        ("SlurmctldHost=ctl2", model.DROPPED, ()),
        ("BackupController=ctl2", model.DROPPED, ()),
        ("NoSuchKey=1", model.DROPPED, ()),
    ],
)
def test_every_line_has_a_group_and_what_vanishes_a_way_to_stay(line: str, group: str, keep: tuple[str, ...]) -> None:
    ((its, _, path),) = [it for it in found(f"{line}\n") if it[0] in (model.OURS, model.KEPT, model.DROPPED)]
    assert (its, path) == (group, keep)


def test_advice_leaves_out_words_that_the_intent_refuses() -> None:
    assert found("DebugFlags=Gres,NO_CONF_HASH\n") == [
        (model.OURS, "DebugFlags=NO_CONF_HASH", ()),
        (model.DROPPED, "DebugFlags=Gres", ("settings", "DebugFlags")),
    ]


def test_what_the_intent_can_not_keep_says_why() -> None:
    lost = settings.compared(
        settings.TABLES["slurm.conf"], lines("KillWait=45\nBackupAddr=x\nNoSuchKey=1\n"), lines(NEW), {}
    )
    assert [it for it in lost if it.group == model.DROPPED and not (it.note or it.keep)] == []


def test_a_program_of_the_site_that_is_a_part_is_kept() -> None:
    assert found("Prolog=/opt/prolog\n", {"Prolog": ["/opt/prolog"]}) == [(model.KEPT, "Prolog=/opt/prolog", ())]
    assert found("Prolog=/opt/p.d/*\n", {"Prolog": ["/opt/p.d/one"]}) == [(model.KEPT, "Prolog=/opt/p.d/*", ())]


def test_a_password_is_never_shown() -> None:
    changes = settings.compared(
        settings.TABLES["slurmdbd.conf"], lines("StoragePass=secret\n"), lines("StorageUser=slurm\n"), {}
    )
    assert "secret" not in str(changes)


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        *(("a,B", "b,a", True), ("infinite", "UNLIMITED", True), ("/srv/x/", "/srv/x", True), ("yes", "1", True)),
        *(("a", "a,b", False), ("/srv/x", "/srv/y", False), ("30", "45", False)),
    ],
)
def test_what_slurm_reads_alike_is_the_same(old: str, new: str, alike: bool) -> None:
    assert settings.same(old, new) is alike

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.model import (
    DROPPED,
    KEPT,
    OURS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.settings import (
    TABLES,
    compared,
    same,
)
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
    changes = compared(TABLES["slurm.conf"], lines(old), lines(NEW), scripts or {})
    return [(it.group, it.old, it.keep) for it in changes if it.old]


@pytest.mark.parametrize(
    ("line", "group", "keep"),
    [
        ("killwait=30", KEPT, ()),
        ("KillWait=45", DROPPED, ()),
        ("ReturnToService=2", OURS, ()),
        ("SlurmctldPort=7817", DROPPED, ("settings", "SlurmctldPort")),
        ("MailProg=/opt/mail", DROPPED, ("settings", "MailProg")),
        ("Prolog=/opt/prolog", DROPPED, ("scripts", "prolog")),
        ("AccountingStorageTRES=gres/gpu", OURS, ()),
        ("PrologFlags=RunInJob", OURS, ()),
        ("DebugFlags=no_conf_hash", OURS, ()),
        ("PrologFlags=X11", DROPPED, ("settings", "PrologFlags")),
        ("PrologFlags=alloc", KEPT, ()),
        ("JobSubmitPlugins=lua", KEPT, ()),
        ("JobSubmitPlugins=lua,require_timelimit", DROPPED, ("settings", "JobSubmitPlugins")),
        ("SlurmctldHost=ctl", KEPT, ()),
        ("SlurmctldHost=ctl2", DROPPED, ()),
        ("BackupController=ctl2", DROPPED, ()),
        ("NoSuchKey=1", DROPPED, ()),
    ],
)
def test_every_line_has_a_group_and_what_vanishes_a_way_to_stay(line: str, group: str, keep: tuple[str, ...]) -> None:
    ((its, _, path),) = [it for it in found(f"{line}\n") if it[0] in (OURS, KEPT, DROPPED)]
    assert (its, path) == (group, keep)


def test_advice_leaves_out_words_that_the_intent_refuses() -> None:
    assert found("DebugFlags=Gres,NO_CONF_HASH\n") == [
        (OURS, "DebugFlags=NO_CONF_HASH", ()),
        (DROPPED, "DebugFlags=Gres", ("settings", "DebugFlags")),
    ]


def test_what_the_intent_can_not_keep_says_why() -> None:
    lost = compared(TABLES["slurm.conf"], lines("KillWait=45\nBackupAddr=x\nNoSuchKey=1\n"), lines(NEW), {})
    assert [it for it in lost if it.group == DROPPED and not (it.note or it.keep)] == []


def test_a_program_of_the_site_that_is_a_part_is_kept() -> None:
    assert found("Prolog=/opt/prolog\n", {"Prolog": ["/opt/prolog"]}) == [(KEPT, "Prolog=/opt/prolog", ())]
    assert found("Prolog=/opt/p.d/*\n", {"Prolog": ["/opt/p.d/one"]}) == [(KEPT, "Prolog=/opt/p.d/*", ())]


def test_a_password_is_never_shown() -> None:
    changes = compared(TABLES["slurmdbd.conf"], lines("StoragePass=secret\n"), lines("StorageUser=slurm\n"), {})
    assert "secret" not in str(changes)


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        *(("a,B", "b,a", True), ("infinite", "UNLIMITED", True), ("/srv/x/", "/srv/x", True), ("yes", "1", True)),
        *(("a", "a,b", False), ("/srv/x", "/srv/y", False), ("30", "45", False)),
    ],
)
def test_what_slurm_reads_alike_is_the_same(old: str, new: str, alike: bool) -> None:
    assert same(old, new) is alike

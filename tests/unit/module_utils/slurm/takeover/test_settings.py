# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model, settings

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
        ("AccountingStorageTRES=gres/gpu:H100", model.DROPPED, ("settings", "AccountingStorageTRES")),
        ("PrologFlags=RunInJob", model.OURS, ()),
        ("DebugFlags=no_conf_hash", model.OURS, ()),
        ("PrologFlags=X11", model.DROPPED, ("settings", "PrologFlags")),
        ("PrologFlags=alloc", model.KEPT, ()),
        ("JobSubmitPlugins=lua", model.KEPT, ()),
        ("JobSubmitPlugins=lua,require_timelimit", model.DROPPED, ("settings", "JobSubmitPlugins")),
        ("SlurmctldHost=ctl", model.KEPT, ()),
        ("SlurmctldHost=ctl2", model.DROPPED, ()),
        ("BackupController=ctl2", model.DROPPED, ()),
        ("NoSuchKey=1", model.OURS, ()),
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
    ("line", "group"),
    [
        *(
            ("KillWait=30", model.KEPT),
            ("HealthCheckInterval=0", model.KEPT),
            ("PriorityCalcPeriod=00:05:00", model.KEPT),
        ),
        *(
            ("PriorityCalcPeriod=00:06:00", model.DROPPED),
            ("PreemptMode=OFF", model.KEPT),
            ("PrEpPlugins=script", model.KEPT),
        ),
    ],
)
def test_what_slurm_takes_without_a_line_is_kept(line: str, group: str) -> None:
    assert [it[0] for it in found(f"{line}\n")] == [group]


def test_plugins_that_run_in_another_order_are_lost_with_a_way_to_keep_it() -> None:
    assert found("JobSubmitPlugins=partition,lua\n") == [
        (model.DROPPED, "JobSubmitPlugins=partition,lua", ("settings", "JobSubmitPlugins"))
    ]


def test_a_script_and_its_place_in_the_order_are_two_keys() -> None:
    new = NEW.replace("JobSubmitPlugins=lua\n", "")
    changes = settings.compared(
        settings.TABLES["slurm.conf"], lines("JobSubmitPlugins=partition,lua\n"), lines(new), {}
    )
    assert [it.keep for it in changes if it.old] == [("job_submit", "script"), ("settings", "JobSubmitPlugins")]


def test_a_value_that_the_check_refuses_says_why_instead_of_how_to_keep_it() -> None:
    (lost,) = settings.compared(settings.TABLES["slurm.conf"], lines("TaskPlugin=task/affinity\n"), lines("A=1\n"), {})[
        :1
    ]
    assert (lost.group, lost.keep) == (model.DROPPED, ()) and "add task/cgroup" in lost.note


def test_words_that_this_release_ignores_are_no_loss() -> None:
    table, line = settings.TABLES["slurm.conf"], "SchedulerParameters=bf_topopt_enable,bf_interval=9"
    changes = settings.compared(table, lines(line), lines(NEW), {}, "23.11")
    assert [(it.group, it.keep) for it in changes if it.old] == [
        (model.OURS, ()),
        (model.DROPPED, ("settings", "SchedulerParameters")),
    ]


def test_tracked_resources_of_the_sites_can_be_kept() -> None:
    assert found("AccountingStorageTRES=cpu,license/matlab\n") == [
        (model.DROPPED, "AccountingStorageTRES=license/matlab", ("settings", "AccountingStorageTRES"))
    ]


def test_values_of_slurmdbd_that_say_what_it_takes_anyway_are_kept() -> None:
    old = "DbdPort=6819\nDbdAddr=head\nStoragePort=3306\n"
    changes = settings.compared(settings.TABLES["slurmdbd.conf"], lines(old), lines("DbdHost=head\n"), {})
    assert {it.group for it in changes if it.old} == {model.KEPT}

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What answers, and what does not: a silent daemon is named once, and gets no further call."""

from __future__ import annotations

from roles.drawbridge_status.files.gate.command import Commands, Result
from roles.drawbridge_status.files.project.month import Month
from roles.drawbridge_status.files.project.slurm_io import AT_ONCE, Slurm
from roles.drawbridge_status.files.project.slurm_text import Hours
from tests.unit.roles.drawbridge_status.project.project_scene import NOW, Recorded


def slurm(commands: Commands, person: str = "cleo", is_root: bool = False) -> Slurm:
    return Slurm(commands, "lab", person, is_root)


def test_the_present_month_is_the_sum_of_whole_days_and_of_today() -> None:
    commands = Recorded()
    found = slurm(commands).hours(Month.of("", NOW), "vision")
    assert found is not None and found["vision"]["ada"] == Hours(54.0, 49.5, 7.5)
    assert [word for argv in commands.calls for word in argv if word.startswith(("Start=", "End="))] == [
        *("Start=2026-11-01", "End=2026-11-29", "Start=2026-11-29", "End=2026-11-30")
    ]
    assert all("Accounts=vision" in argv for argv in commands.calls)


def test_a_silent_daemon_gets_one_call() -> None:
    commands = Recorded(silent=("sreport",))
    shown = slurm(commands)
    assert shown.hours(Month.of("", NOW)) is None and shown.accounts(["vision"]) is None and shown.own() is None
    assert [argv[0] for argv in commands.calls] == ["sreport"]
    assert shown.blind
    assert shown.notes == ["slurmdbd did not answer (sreport: no answer in 120 s), so a part of this is not known"]
    assert shown.jobs("vision") != [] and shown.usage(["project-vision"])["project-vision"].budget


def test_each_daemon_is_named() -> None:
    shown = slurm(Recorded(silent=("squeue", "sacct")))
    assert shown.jobs("vision") is None and shown.runs(Month.of("", NOW), "vision") is None
    assert [note.partition(" ")[0] for note in shown.notes] == ["slurmctld", "slurmdbd"]


def test_an_error_is_quoted() -> None:
    class Refuses(Commands):
        def run(self, *argv: str, timeout_s: float = 0) -> Result:
            return Result(1, "", "sacctmgr: error: Problem\n talking to the database: Connection refused")

    shown = slurm(Refuses())
    assert shown.accounts() is None
    assert "(sacctmgr: sacctmgr: error: Problem talking to the database: Connection refused)" in shown.notes[0]


def test_what_private_data_hides_is_said_to_those_from_whom_it_hides() -> None:
    assert slurm(Recorded("ada"), "ada").hides("usage", "jobs").startswith("PrivateData=jobs,usage: Slurm shows you")
    assert slurm(Recorded("ada"), "ada").hides("nodes") == ""
    assert slurm(Recorded()).hides("usage") == ""


def test_root_needs_no_call_to_see_all_and_others_need_one() -> None:
    commands = Recorded()
    assert slurm(commands, "root", is_root=True).sees_all() and commands.calls == []
    shown = slurm(commands)
    assert shown.sees_all() and shown.sees_all() and len(commands.calls) == 1


def test_very_many_names_are_not_put_on_one_line() -> None:
    commands = Recorded()
    slurm(commands).accounts([f"p{number}" for number in range(AT_ONCE + 1)], people=False)
    services = [f"project-p{number}" for number in range(AT_ONCE + 1)]
    slurm(commands).usage(services)
    assert [argv[0] for argv in commands.calls] == ["sacctmgr", "scontrol", "scontrol"]
    assert not any(word.startswith("account=") for word in commands.calls[0])
    assert max(len(word) for argv in commands.calls for word in argv) < 128 * 1024

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge project` on recorded answers: whose projects, exit codes, forms, and what `drawbridge status` adds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_status.files.project import command_io
from roles.drawbridge_status.files.project.command_io import Caller, Command, Shown
from roles.drawbridge_status.files.project.site_io import NoProjects, Spaces, site
from roles.drawbridge_status.files.status.options import parser
from tests.unit.roles.drawbridge_status.project.project_scene import (
    BIO,
    GIB,
    NOW,
    OLD,
    RELEASES,
    ROWS,
    TIB,
    VISION,
    Recorded,
    site_file,
)

ROOM = "/gpfs/fs1/projects/vision"


class Site:
    """A host with the site's file, recorded answers and a directory."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self.rows: tuple[dict[str, Any], ...] = ROWS
        self.rooms = Spaces({ROOM: TIB}, {})
        monkeypatch.setattr(command_io, "spaces", self._spaces)
        monkeypatch.setattr(command_io, "exists", lambda: bool(self.rows))
        self.commands = Recorded()

    def _spaces(self, directories: Any) -> Spaces:
        self.paths = [it.path for it in directories]
        return self.rooms

    def command(self, person: str, **how: Any) -> Command:
        file = site_file(self._folder, *self.rows)
        self.commands = Recorded("cleo" if person == "root" else person, **how)
        return Command(self.commands, Caller(person, person == "root", NOW), lambda wanted: site(wanted, file))

    def run(self, words: str, person: str = "root", **how: Any) -> Shown:
        return self.command(person, **how).run(parser().parse_args(["project", *words.split()]))


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, monkeypatch)


def names(shown: Shown) -> list[str]:
    return [it["name"] for it in json.loads(shown.text)["projects"]]


def test_a_person_sees_their_own_projects_and_those_who_look_after_all_see_all(host: Site) -> None:
    assert names(host.run("list --json", "ada")) == ["vision"]
    assert host.paths == [ROOM]
    assert names(host.run("list --json --all", "ada")) == ["bio", "old", "vision"]
    assert names(host.run("list --json", "cleo")) == ["bio", "old", "vision"]
    assert names(host.run("list --json", "root")) == ["bio", "old", "vision"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_list(host: Site, release: str) -> None:
    shown = host.run("list", release=release)
    assert shown.code == 1 and "vision   open" in shown.text
    assert "project bio: it is closed by an administrator" in shown.text
    assert "GPU 0 of 100 (0 %), again 2026-12-01" in shown.text


def test_a_person_without_projects(host: Site) -> None:
    host.rows = (OLD,)
    shown = host.run("list", "ada")
    assert shown.text == "0 projects.\nNote: Slurm has no project of yours; --all shows those of others"
    assert shown.code == 0


def test_one_project_as_root_and_as_one_of_its_people(host: Site) -> None:
    shown = host.run("show vision")
    assert shown.code == 0 and "people      ada, ben (2)" in shown.text
    assert "1 waits (QOSGrpGRESMinutes): its time limit does not fit" in shown.text
    mine = host.run("show vision", "ada")
    assert "people      ada (1); PrivateData hides others" in mine.text
    assert "Note: PrivateData=accounts,jobs,usage,users: Slurm shows you your own use" in mine.text
    assert [it["name"] for it in json.loads(host.run("show vision --json").text)["projects"]] == ["vision"]
    assert host.run("show vision --csv").text.count("\n") == 1


def test_an_account_that_slurm_lacks_is_a_finding_for_those_who_see_all(host: Site) -> None:
    host.rows = ({**VISION, "name": "new"},)
    assert host.run("show new").code == 2
    assert "Slurm has no account of this name" not in host.run("show new", "ada").text


def test_a_project_that_is_gone_costs_no_call(host: Site) -> None:
    shown = host.run("show old")
    assert shown.code == 0 and host.commands.calls == [] and host.paths == []


def test_no_such_project(host: Site) -> None:
    with pytest.raises(NoProjects, match="no project has the name nope: drawbridge project list --all"):
        host.run("show nope")
    with pytest.raises(ValueError, match="has not begun"):
        host.run("report vision --month 2027-01")


@pytest.mark.parametrize("release", RELEASES)
def test_a_report(host: Site, release: str) -> None:
    shown = host.run("report vision --json", release=release)
    found = json.loads(shown.text)
    assert (shown.code, found["level"], found["notes"], found["only_own_use"]) == (0, 0, [], False)
    assert found["hours"] == {"gpu_hours": 119.5, "cpu_hours": 115.0, "node_hours": 17.0}
    assert [(it["user"], it["jobs"]) for it in found["users"]] == [("ada", 2), ("ben", 4)]
    assert found["wait"]["jobs"] == 5 and found["jobs"][0]["job"] == "3"


def test_a_report_of_another_month(host: Site) -> None:
    found = json.loads(host.run("report vision --month 2026-10 --json").text)
    assert found["hours"]["gpu_hours"] == 32.0 and found["complete"]
    assert found["budget"]["hours"]["GPU hours"] == {"limit": 100.0, "used": 32.0}


def test_what_private_data_hides_is_no_zero(host: Site) -> None:
    shown = host.run("report vision --csv", "ada")
    assert [row["user"] for row in csv.DictReader(io.StringIO(shown.text))] == ["ada"]
    assert shown.notes[0].startswith("PrivateData=") and shown.code == 0
    found = json.loads(host.run("report vision --month 2026-10 --json", "ada").text)
    assert found["only_own_use"] and found["budget"]["hours"]["GPU hours"]["used"] is None


def test_a_report_of_all_projects(host: Site) -> None:
    shown = host.run("report --all --csv")
    rows = {row["project"]: row for row in csv.DictReader(io.StringIO(shown.text))}
    assert [*rows] == ["bio", "old", "vision"] and shown.code == 0
    assert (rows["vision"]["gpu_hours"], rows["vision"]["users"]) == ("119.500", "2")
    assert rows["vision"]["space_bytes_used"] == str(512 * GIB)
    assert (rows["bio"]["gpu_hours"], rows["old"]["state"]) == ("0.000", "archived")
    assert not any(argv[0] == "sacct" for argv in host.commands.calls)


def test_a_part_of_the_use_is_no_invoice(host: Site) -> None:
    shown = host.run("report --all --csv", "ada")
    assert shown.code == 1 and shown.notes == [
        "PrivateData=usage: Slurm shows you your own use and jobs, not those of others"
    ]


@pytest.mark.parametrize(
    ("silent", "note"),
    [
        (("sacctmgr",), "slurmdbd did not answer (sacctmgr: no answer in 20 s)"),
        (("scontrol",), "slurmctld did not answer (scontrol: no answer in 20 s)"),
    ],
)
@pytest.mark.parametrize("words", ["list", "show vision", "report vision", "report --all"])
def test_a_silent_daemon_is_named_and_the_rest_is_shown(
    host: Site, words: str, silent: tuple[str, ...], note: str
) -> None:
    shown = host.run(words, silent=silent)
    assert shown.code == 3 and f"Note: {note}" in shown.text
    assert "512 GiB of 1 TiB" in shown.text


def test_a_silent_file_system_is_named(host: Site) -> None:
    host.rooms = Spaces({}, {}, ("/gpfs/fs1",))
    shown = host.run("show vision")
    assert shown.code == 3
    assert "Note: /gpfs/fs1 did not answer in time, so space and files there are not known" in shown.text
    assert "            /gpfs/fs1 did not answer in time" in shown.text.splitlines()


def test_a_directory_that_this_host_does_not_have(host: Site) -> None:
    host.rooms = Spaces({}, {ROOM: "No such file or directory"})
    shown = host.run("show vision")
    assert shown.code == 0 and "not seen on this host: No such file or directory" in shown.text


def test_status_shows_findings_of_a_persons_own_projects(host: Site) -> None:
    host.rooms = Spaces({ROOM: TIB._replace(used=1000 * GIB)}, {})
    [found] = host.command("ada").attention()
    assert (found["project"], found["level"], found["text"]) == ("vision", 1, "space: 1000 GiB of 1 TiB (98 %)")
    assert host.command("root").attention() == [] and host.commands.calls == []
    assert host.command("ada", silent=("sacctmgr",)).attention() == []


def test_a_site_without_projects_costs_no_call(host: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_io, "exists", lambda: False)
    assert host.command("ada").attention() == [] and host.commands.calls == []


def test_the_caller_is_this_process() -> None:
    found = Caller.present()
    assert found.name and found.now.tzinfo is None


def test_calls_of_one_project_name_no_other(host: Site) -> None:
    """A change of one project, and a look at it, cost the same with thousands of others."""
    host.rows = (BIO, VISION, *({"name": f"p{number:05}"} for number in range(2000)))
    host.run("show vision")
    assert max(len(" ".join(argv)) for argv in host.commands.calls) < 200

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's file, real directories, and a file system that hangs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from roles.drawbridge_status.files.project import site_io
from roles.drawbridge_status.files.project.site_io import NoProjects, Spaces, site, spaces
from tests.unit.roles.drawbridge_status.project.project_scene import directory, site_file


def test_all_projects_and_what_they_share(tmp_path: Path) -> None:
    found = site(file=site_file(tmp_path))
    assert [it.name for it in found.projects] == ["bio", "old", "vision"]
    assert (found.cluster, found.data) == ("lab", {"imagenet": "/gpfs/fs1/data/imagenet"})
    vision = found.projects[2]
    assert vision.directory and vision.directory.quota_gib == 1024 and vision.period == "month"
    assert vision.own_qos == "project-vision" and not found.projects[0].own_qos


def test_of_those_that_are_wanted_alone_the_line_is_read(tmp_path: Path) -> None:
    file = site_file(tmp_path)
    with file.open("a") as out:
        out.write('{"name":"broken\n')
    assert [it.name for it in site(("vision", "visio"), file).projects] == ["vision"]
    assert site((), file).projects == []
    with pytest.raises(NoProjects, match="can't be read"):
        site(None, file)


def test_keys_of_newer_versions_are_ignored(tmp_path: Path) -> None:
    own = {"name": "x", "colour": "red", "directory": {"path": "/a/x", "mount": "/a", "tape": True}}
    [found] = site(file=site_file(tmp_path, own)).projects
    assert found.directory and found.directory.path == "/a/x"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "this site declares no projects"),
        ("", "can't be read"),
        ("{}\n", "can't be read"),
        ('{"version":2}\n', "has version 2, and this command reads 1"),
        ('{"version":1,"cluster":"lab"}\n{"state":"open"}\n', "can't be read"),
    ],
)
def test_no_projects(tmp_path: Path, text: str | None, reason: str) -> None:
    file = tmp_path / "projects.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(NoProjects, match=reason):
        site(file=file)


def test_a_real_directory(tmp_path: Path) -> None:
    own = tmp_path / "vision"
    own.mkdir(mode=0o750)
    found = spaces([directory(own), directory(tmp_path / "none")], limit_s=600)
    assert found.missing == {str(tmp_path / "none"): "No such file or directory"} and found.silent == ()
    space = found.found[str(own)]
    assert space.mode == "0750" and 0 < space.used <= space.total and space.files_used <= space.files


def test_a_closed_directory_shows_its_numbers(tmp_path: Path) -> None:
    """The way to it is enough for stat."""
    own = tmp_path / "shut"
    own.mkdir(mode=0o000)
    assert spaces([directory(own)], limit_s=600).found[str(own)].mode == "0000"


def test_a_program_that_does_not_end_is_not_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one on a dead file system."""
    (tmp_path / "stat").write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    (tmp_path / "stat").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    began = time.monotonic()
    assert spaces([directory(tmp_path / "x")], limit_s=0.2) == Spaces({}, {}, (str(tmp_path),))
    assert time.monotonic() - began < 300


def test_a_silent_file_system_takes_nothing_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = site_io._ended, []

    def ended(argv: Sequence[str], limit_s: float) -> tuple[str, str] | None:
        calls.append(argv)
        return None if str(tmp_path / "hung/x") in argv else real(argv, limit_s)

    monkeypatch.setattr(site_io, "_ended", ended)
    (tmp_path / "well/x").mkdir(parents=True)
    found = spaces([directory(tmp_path / "hung/x"), directory(tmp_path / "well/x")], limit_s=600)
    assert found.silent == (str(tmp_path / "hung"),) and [*found.found] == [str(tmp_path / "well/x")]
    assert len(calls) == 3


def test_a_silent_file_system_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def ended(argv: Sequence[str], _limit: float) -> None:
        calls.append(len(argv))

    monkeypatch.setattr(site_io, "_ended", ended)
    monkeypatch.setattr(site_io, "AT_ONCE", 1)
    spaces(directory(tmp_path / str(number)) for number in range(3))
    assert len(calls) == 1


def test_very_many_directories_take_few_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def answers(paths: Sequence[str], _limit: float) -> Iterator[tuple[str, str]]:
        calls.append(len(paths))
        return iter([("", ""), ("", "")])

    monkeypatch.setattr(site_io, "_answers", answers)
    monkeypatch.setattr(site_io, "AT_ONCE", 20)
    spaces(directory(tmp_path / str(number)) for number in range(50))
    assert calls == [20, 20, 10]

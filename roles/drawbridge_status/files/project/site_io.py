# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's file of projects, and their directories."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import space_text
from .model import Directory, Project, Site, Space

FILE = Path("/etc/drawbridge/projects.json")
VERSION = 1
LIMIT_S = 10.0
"""For all directories of one file system."""
AT_ONCE = 2000


class NoProjects(Exception):
    """There is no project to show; the message has the reason and the repair."""


class Spaces(NamedTuple):
    """What directories show, by path."""

    found: dict[str, Space]
    missing: dict[str, str]
    """Why a directory shows nothing."""
    silent: tuple[str, ...] = ()
    """File systems that did not answer in time."""


def site(wanted: Collection[str] | None = None, file: Path = FILE) -> Site:
    """The site's projects, or those of them that are wanted. Raises NoProjects.

    A line begins with its project's name, so that the others need not be read as JSON.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        head: dict[str, Any] = json.loads(lines[0])
        if head["version"] != VERSION:
            raise NoProjects(f"{file} has version {head['version']}, and this command reads {VERSION}: run site.yml")
        starts = None if wanted is None else tuple(f'{{"name":{json.dumps(name)}' for name in wanted)
        rows = [json.loads(line) for line in lines[1:] if starts is None or line.startswith(starts)]
        return Site(head["cluster"], head.get("data") or {}, head.get("images"), [Project.of(row) for row in rows])
    except FileNotFoundError:
        raise NoProjects(f"this site declares no projects ({file} is missing)") from None
    except (OSError, ValueError, LookupError, TypeError) as err:
        raise NoProjects(f"{file} can't be read ({type(err).__name__}: {err}): run site.yml") from err


def exists(file: Path = FILE) -> bool:
    """Whether the site declares projects."""
    return file.is_file()


def spaces(directories: Iterable[Directory], limit_s: float = LIMIT_S) -> Spaces:
    """What directories show, each file system with a time limit of its own."""
    mounts: dict[str, list[str]] = {}
    for one in directories:
        mounts.setdefault(one.mount, []).append(one.path)
    found, missing, silent = {}, {}, []
    for mount, paths in mounts.items():
        for part in (paths[at : at + AT_ONCE] for at in range(0, len(paths), AT_ONCE)):
            answers = list(_answers(part, limit_s))
            if len(answers) < len(space_text.COMMANDS):
                silent.append(mount)
                break
            found.update(space_text.spaces(answers[0][0], answers[1][0]))
            missing.update(space_text.reasons(answers[0][1]))
    return Spaces(found, missing, tuple(silent))


def _answers(paths: Sequence[str], limit_s: float) -> Iterator[tuple[str, str]]:
    """Output and errors of each command; none of one that does not end in time, nor of those after it."""
    for command in space_text.COMMANDS:
        answer = _ended([*command, "--", *paths], limit_s)
        if answer is None:
            return
        yield answer


def _ended(argv: Sequence[str], limit_s: float) -> tuple[str, str] | None:
    """A program that hangs in the kernel can't be ended, so its end is not awaited for long."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    try:
        return process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        return None

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that no daemon reads."""

from __future__ import annotations

from typing import Any

from ..command import Command
from ..file_entry import FILES_ARGUMENT, Entry, entries
from ..layer import Layer, Params, Work, records
from ..placed.text import BLOCK, FILE, TREE, Item, items
from .io import HostFiles
from .plan import FilesState, plan

LIMIT_S = 30.0
"""For systemd, which reads its unit files again."""
SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "program": {"type": "dict", "default": {}},
    "directory": {"type": "path", "required": True},
    "files": FILES_ARGUMENT,
    "makes": {"type": "list", "elements": "str", "default": []},
    "blocks": records(
        required=False,
        path={"type": "path", "required": True},
        content={"type": "str", "required": True},
        mode={"type": "str", "default": "0644"},
    ),
}


def work(params: Params, check: bool) -> Work[FilesState]:
    """A program's files, those that belong to it, and its blocks in files of the site."""
    program = {f"{params['directory']}/{name}": Entry(text) for name, text in params["program"].items()}
    blocks = {block["path"]: Entry(block["content"], block["mode"]) for block in params["blocks"]}
    want = FilesState({**program, **entries(params["files"])[0], **blocks}, frozenset(blocks))
    return Work(HostFiles(params["name"], want, Command(LIMIT_S)), plan, want)


def places(params: Params) -> list[Item]:
    """Its files, those that its program makes, blocks, and the folder of its program."""
    found = [file["path"] for file in params["files"] if file.get("content") is not None] + params["makes"]
    trees = [params["directory"]] if params["program"] else []
    return [*items(FILE, found), *items(BLOCK, [each["path"] for each in params["blocks"]]), *items(TREE, trees)]


HOST_FILES = Layer(SPEC, work, places=places)

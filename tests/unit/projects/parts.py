# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the site: what there is of a project, the API server, mm commands in this process, and trees of files."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from lab.emulators.storage import gpfs
from tests.unit.module_utils.kube.project_objects.server import Server

Json = dict[str, Any]
HONEST = object()
"""In place of the answer of a tool that lies: this one never does."""
Tree = list[tuple[Path, os.stat_result, "bytes | None"]]


@dataclass(frozen=True)
class Own:
    """What there is of one project."""

    takes_jobs: bool
    claims: int
    junction: str | None
    """None: it has no fileset. Empty: the fileset is not linked."""
    top: tuple[int, int, str] | None
    limits: Any
    rule: str
    data: str
    """What a file of its people says; empty if no file system has it."""

    @property
    def reached(self) -> bool:
        """Whether users reach the directory."""
        return self.top is not None and self.top[1] != 0


@dataclass
class Kill:
    """A run that ends before or after one of its changes, or one that believes a change that was not made."""

    at: int = 0
    how: str = ""
    count: int = 0
    """Changes so far."""
    lies: list[int] = field(default_factory=list)
    """Those of tools that can lie."""


class Api(Server):
    """An API server whose namespaces must exist, and whose binder and garbage collector work at once."""

    change: Callable[[str, Callable[[], Any], Any], Any]

    def __call__(self, method: str, path: str, body: Json | None) -> tuple[int, Json]:
        ask = super().__call__
        if method == "GET":
            return ask(method, path, body)
        return self.change(f"{method} {path.partition('?')[0]}", lambda: self._changed(ask, method, path, body), HONEST)

    def _changed(self, ask: Any, method: str, path: str, body: Json | None) -> tuple[int, Json]:
        bare = path.partition("?")[0]
        space = bare.split("/namespaces/")[1].partition("/")[0] if "/namespaces/" in bare else ""
        if space and "/" in bare.split("/namespaces/")[1] and f"/api/v1/namespaces/{space}" not in self.items:
            return 404, {"message": f'namespaces "{space}" not found'}
        answer = ask(method, path, body)
        if "/persistentvolumeclaims/" in bare:
            volume = f"/api/v1/persistentvolumes/drawbridge-{space}.{bare.rpartition('/')[2]}"
            if method == "DELETE" and volume in self.items:
                self.items[volume]["status"] = {"phase": "Released"}
            elif volume in self.items:
                self.items[volume]["spec"]["claimRef"]["uid"] = "1"
        return answer


def mm(tool: str, argv: list[str], ok: Sequence[int]) -> Completed:
    """Run an mm command here."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = gpfs.main(tool, argv)
    if code not in ok:
        raise DeviceError(f"{tool} failed", rc=code, stdout=out.getvalue(), stderr=err.getvalue())
    return Completed(code, out.getvalue(), err.getvalue())


def tree(root: Path) -> Tree:
    """Files below a folder, with their owners and content."""
    if not root.exists():
        return []
    return [(it, it.lstat(), None if it.is_dir() else it.read_bytes()) for it in (root, *sorted(root.rglob("*")))]


def plant(files: Tree) -> None:
    """Bring them back."""
    for path, about, text in files:
        path.mkdir() if text is None else path.write_bytes(text)
        os.chown(path, about.st_uid, about.st_gid)
        path.chmod(stat.S_IMODE(about.st_mode))

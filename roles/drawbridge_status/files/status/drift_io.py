# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge drift`: the whole site in check mode, compared with the last check."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

NONE, FAILED, DRIFT = 0, 1, 3
"""Exit codes; Ansible's own are 1, 2, 4 and above."""
PLAYBOOK = Path("playbooks/drift.yml")
COLLECTION = "drawbridge.drawbridge.drift"
FILES = {"JSON": "drift.json", "JUNIT": "drift.xml", "METRICS": "drawbridge_drift.prom"}


def folder(given: str, env: Mapping[str, str]) -> Path:
    """Where the reports are kept."""
    if given:
        return Path(given).resolve()
    return Path(env.get("XDG_STATE_HOME") or Path(env.get("HOME", "/")) / ".local/state") / "drawbridge"


def drift(words: Sequence[str], state: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Run the check. The exit code, and a sentence for a person if the check itself failed."""
    names = {f"DRAWBRIDGE_REPORT_{kind}": str(state / name) for kind, name in FILES.items()}
    report = Path(env.get("DRAWBRIDGE_REPORT_JSON") or names["DRAWBRIDGE_REPORT_JSON"])
    before = _stamp(report)
    if why := _others(PLAYBOOK):
        return FAILED, f"{PLAYBOOK} of this directory is not run, because {why}: change to a directory of your own"
    argv = ["ansible-playbook", "--check", str(PLAYBOOK) if PLAYBOOK.is_file() else COLLECTION, *words]
    try:
        code = subprocess.run(argv, env={**names, **env}, check=False).returncode
    except OSError as err:
        return FAILED, f"ansible-playbook can't be started ({err}): run drawbridge drift where Ansible is installed"
    if code:
        return code, ""
    if _stamp(report) == before:
        return FAILED, f"the check wrote no {report}: enable the callback drawbridge.drawbridge.report in ansible.cfg"
    return (DRIFT if json.loads(report.read_text())["findings"] else NONE), ""


def _others(file: Path) -> str:
    """Why other users decide what a file of the working directory says; "" if they don't, or if it does not exist."""
    for path in (file, *file.parents) if file.is_file() else ():
        found = path.stat()
        if found.st_uid not in (os.geteuid(), 0):
            return f"{path.resolve()} belongs to another user"
        if found.st_mode & stat.S_IWOTH:
            return f"all users may write {path.resolve()}"
    return ""


def _stamp(file: Path) -> tuple[int, int]:
    """Changes when the file is replaced."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_ino, found.st_mtime_ns

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A trial slurmctld that reads new files before they are installed.

It runs as the user slurm in its own network namespace, on a scratch directory. It ends when its log shows whether it
would serve.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.command import Child
from ...core.converge import DeviceError
from . import trial as slurm_trial

ADDRESS = "192.0.2.1"
"""An address for documentation; a controller at a loopback address would try to resolve its name endlessly."""
START = f"""
ip address add {ADDRESS}/32 dev lo
ip link set lo up
exec setpriv --reuid "$2" --regid "$3" --init-groups slurmctld -D -i -f "$1"
"""
ISOLATED = ("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec", START, "sh")
SECRET = frozenset({"slurmdbd.conf"})


@dataclass(frozen=True)
class Trial:
    """Command, user, directory and time limit of the trial slurmctld."""

    timeout_s: float
    command: Sequence[str] = ISOLATED
    """Runs slurmctld in the foreground; the path of slurm.conf, the user and its group's number are appended."""
    user: str = "slurm"
    below: str = "/run"

    def check(self, conf: str, texts: Mapping[str, str]) -> None:
        """Raise DeviceError with Slurm's own errors for files that it would refuse.

        `texts` are the new files by path; `conf` is the path of slurm.conf. Its other neighbours are read unchanged.
        """
        user = pwd.getpwnam(self.user)
        scratch = Path(tempfile.mkdtemp(prefix="slurm-trial-", dir=self.below))
        try:
            _copy(Path(conf).parent, scratch, texts)
            (scratch / "state").mkdir()
            text = slurm_trial.trial_conf(texts[conf], str(scratch), socket.gethostname().split(".")[0], ADDRESS)
            script = scratch / slurm_trial.JOB_SUBMIT
            if (scratch / slurm_trial.CLI_FILTER).exists():
                old = script.read_text() if script.exists() else ""
                text, new = slurm_trial.with_cli_filter(text, old, str(scratch))
                script.write_text(new)
            (scratch / "slurm.conf").write_text(text)
            for place in (scratch, *scratch.iterdir()):
                os.chown(place, user.pw_uid, user.pw_gid)
            errors = slurm_trial.complaints(self._serve(scratch, user))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if errors:
            raise DeviceError(f"Slurm refuses the new files, so the old ones stay: {errors}")

    def _serve(self, scratch: Path, user: pwd.struct_passwd) -> str:
        """The log until slurmctld served, ended or reached the limit. It and its children are then killed."""
        log = scratch / "log"
        argv = [*self.command, str(scratch / "slurm.conf"), user.pw_name, str(user.pw_gid)]
        with log.open("wb") as out:
            process = Child(argv, stdout=out, stderr=out)
        deadline = time.monotonic() + self.timeout_s
        try:
            while process.poll() is None and time.monotonic() < deadline:
                if slurm_trial.decided(log.read_text(errors="replace")):
                    break
                time.sleep(0.02)
        finally:
            process.end()
            process.wait()
        return log.read_text(errors="replace")


def _copy(folder: Path, scratch: Path, texts: Mapping[str, str]) -> None:
    """Copy the files beside slurm.conf, then the new files over them."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_file() and path.name not in SECRET:
            shutil.copyfile(path, scratch / path.name)
    for path, text in texts.items():
        if Path(path).parent == folder:
            (scratch / Path(path).name).write_text(text)

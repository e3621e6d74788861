# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Ask Slurm what it thinks of files before any of its own is touched: a slurmctld that nobody can reach reads them.

It runs as slurm's user in a network namespace of its own, on a scratch directory, and ends as soon as it has said
whether it would serve.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.converge import DeviceError
from . import trial as slurm_trial

ADDRESS = "192.0.2.1"
"""Of the documentation's network; a controller at a loopback address would ask for its name for ever."""
ALONE = f"""
ip address add {ADDRESS}/32 dev lo
ip link set lo up
exec setpriv --reuid slurm --regid slurm --init-groups slurmctld -D -i -f "$1"
"""
APART = ("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec", ALONE, "sh")
SECRET = frozenset({"slurmdbd.conf"})


@dataclass(frozen=True)
class Trial:
    """Where and as whom slurmctld tries files, and how long it may take."""

    timeout_s: float
    command: Sequence[str] = APART
    """What runs slurmctld in the foreground, but for its last word, the path of slurm.conf."""
    user: str = "slurm"
    below: str = "/run"

    def judge(self, conf: str, texts: Mapping[str, str]) -> None:
        """Raise DeviceError with Slurm's own words for files that it would refuse.

        `texts` are the new files by path; `conf` is the path of slurm.conf. What else stands beside it is read as it
        is.
        """
        user = pwd.getpwnam(self.user)
        scratch = Path(tempfile.mkdtemp(prefix="slurm-trial-", dir=self.below))
        try:
            _copy(Path(conf).parent, scratch, texts)
            (scratch / "state").mkdir()
            mine = slurm_trial.alone(texts[conf], str(scratch), socket.gethostname().split(".")[0], ADDRESS)
            (scratch / "slurm.conf").write_text(mine)
            for place in (scratch, *scratch.iterdir()):
                os.chown(place, user.pw_uid, user.pw_gid)
            said = slurm_trial.complaints(self._serve(scratch))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        if said:
            raise DeviceError(f"Slurm refuses the new files, so the old ones stay: {said}")

    def _serve(self, scratch: Path) -> str:
        """What slurmctld logged until it served, gave up or took too long. It and its children are gone afterwards."""
        log = scratch / "log"
        argv = [*self.command, str(scratch / "slurm.conf")]
        with log.open("wb") as out:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        deadline = time.monotonic() + self.timeout_s
        try:
            while process.poll() is None and time.monotonic() < deadline:
                if slurm_trial.decided(log.read_text(errors="replace")):
                    break
                time.sleep(0.02)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return log.read_text(errors="replace")


def _copy(folder: Path, scratch: Path, texts: Mapping[str, str]) -> None:
    """What stands beside slurm.conf, with the new files in place of the old."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_file() and path.name not in SECRET:
            shutil.copyfile(path, scratch / path.name)
    for path, text in texts.items():
        if Path(path).parent == folder:
            (scratch / Path(path).name).write_text(text)

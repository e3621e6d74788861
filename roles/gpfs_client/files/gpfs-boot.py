# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts GPFS after a boot and mounts its file systems: gpfs-boot. slurmd and the kubelet start when it has ended.

It builds the kernel modules if the running kernel has none. If a file system can't be mounted, its exit code is 1,
and /run/drawbridge/gpfs-boot has the reason. There slurm-health finds it and drains the node. The unit starts it again
every 30 s.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

MODULES = ("mmfs26.ko", "mmfslinux.ko", "tracedev.ko")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_S, BUILD_S = 300.0, 1800.0
"""Limits of one mm command, and of mmbuildgpl."""
DOWN_S = 60.0
"""Longest time for which a daemon that starts may be seen down."""


class Unready(Exception):
    """Why there are no mounts, as a few words."""


class Boot:
    """GPFS of this host after its boot. `site` is gpfs.json."""

    def __init__(self, site: dict[str, Any], limit_s: float, modules: Path, mounts: Path, kernel: str) -> None:
        self._site, self._mm, self._limit_s = site, Path(site["mm_path"]), limit_s
        self._modules, self._mounts, self._kernel = modules / kernel, mounts, kernel

    def run(self, verb: str, *arguments: str, limit_s: float = COMMAND_S) -> str:
        """The output of an mm command. Raises Unready with its first line."""
        argv, env = [str(self._mm / verb), *arguments], {**os.environ, "LC_ALL": "C", "PATH": PATH}
        try:
            done = subprocess.run(
                argv, env=env, text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False
            )
        except OSError as err:
            raise Unready(f"{verb} can't be run: {err.strerror}") from err
        except subprocess.TimeoutExpired:
            raise Unready(f"{verb} does not answer") from None
        if done.returncode:
            text = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
            raise Unready(f"{verb} failed: {text.splitlines()[0]}")
        return done.stdout

    def start(self) -> None:
        """Kernel modules, daemon, mounts. Raises Unready."""
        if self._site["version"]:
            self.have_modules()
        self.have_daemon()
        for filesystem in self._site["filesystems"]:
            if filesystem["mount"] not in self.mounted():
                self.run("mmmount", filesystem["device"])
            if filesystem["mount"] not in self.mounted():
                raise Unready(f"mmmount reported success, but {filesystem['mount']} is not mounted")

    def have_modules(self) -> None:
        """Build what the running kernel lacks. Raises Unready with kernel, version and the missing modules."""
        named = f"kernel {self._kernel}"
        kernels = self._site["kernels"]
        if kernels and not any(fnmatchcase(self._kernel, pattern) for pattern in kernels):
            raise Unready(f"{named} is not among those supported for GPFS {self._site['version']}")
        if self.fit():
            return
        if self._site["kernel_modules"] != "build":
            raise Unready(f"{named} has no package gpfs.gplbin-{self._kernel} of GPFS {self._site['version']}")
        if not (self._modules / "build/include").is_dir():
            raise Unready(f"{named} has no headers here, so the modules of GPFS {self._site['version']} can't be built")
        try:
            self.run("mmbuildgpl", limit_s=BUILD_S)
        except Unready as err:
            raise Unready(f"{named}, GPFS {self._site['version']}: {err}") from err
        if not self.fit():
            raise Unready(f"mmbuildgpl reported success, but {named} has no modules of GPFS {self._site['version']}")

    def fit(self) -> bool:
        """Whether all modules exist, and are not older than the daemon."""
        files = [self._modules / "extra" / name for name in MODULES]
        if not all(file.exists() for file in files):
            return False
        oldest = min(file.lstat().st_ctime for file in files)
        return self._site["kernel_modules"] != "build" or oldest >= (self._mm / "mmfsd").lstat().st_ctime

    def have_daemon(self) -> None:
        """Start it, and wait until it is active. Raises Unready, with arbitrating for a cluster without quorum."""
        begin = time.monotonic()
        state = self.state()
        if state == "down":
            self.run("mmstartup")
            state = self.state()
        while state != "active":
            limit_s = min(self._limit_s, DOWN_S) if state == "down" else self._limit_s
            if time.monotonic() - begin > limit_s:
                raise Unready(f"GPFS is {state}")
            time.sleep(1)
            state = self.state()

    def state(self) -> str:
        """State of this host's daemon. Raises Unready for an answer without one."""
        lines = [line.split(":") for line in self.run("mmgetstate", "-Y").splitlines()]
        rows = [fields for fields in lines if fields[0] == "mmgetstate"]
        headers = [fields for fields in rows if fields[2:3] == ["HEADER"]]
        values = [fields for fields in rows if fields[2:3] == ["0"]]
        if not headers or not values or "state" not in headers[0] or len(values[0]) <= headers[0].index("state"):
            raise Unready("mmgetstate gave no state")
        return values[0][headers[0].index("state")]

    def mounted(self) -> set[str]:
        """All mount points."""
        return {line.split()[4] for line in self._mounts.read_text().splitlines()}


def main(argv: Sequence[str] | None = None) -> int:
    """Start GPFS, and write the reason if that fails."""
    parser = argparse.ArgumentParser(prog="gpfs-boot")
    parser.add_argument("--limit", type=float, default=300.0, metavar="SECONDS", help="until GPFS must be active")
    parser.add_argument("--site", type=Path, default=Path("/etc/drawbridge/gpfs.json"), metavar="FILE")
    parser.add_argument("--reason", type=Path, default=Path("/run/drawbridge/gpfs-boot"), metavar="FILE")
    parser.add_argument("--modules", type=Path, default=Path("/lib/modules"), metavar="DIRECTORY")
    parser.add_argument("--mounts", type=Path, default=Path("/proc/self/mountinfo"), metavar="FILE")
    parser.add_argument("--osrelease", type=Path, default=Path("/proc/sys/kernel/osrelease"), metavar="FILE")
    options = parser.parse_args(argv)
    site, kernel = json.loads(options.site.read_text()), options.osrelease.read_text().strip()
    try:
        Boot(site, options.limit, options.modules, options.mounts, kernel).start()
    except Unready as err:
        options.reason.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        options.reason.write_text(f"{err}\n")
        print(f"error: {err}", file=sys.stderr)
        return 1
    options.reason.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

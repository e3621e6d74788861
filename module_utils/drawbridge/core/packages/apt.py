# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian packages, installed without starting their services.

A daemon that starts before its configuration exists may wait for it: slurmd searches the network for 91 seconds.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..command import Run
from ..converge import DeviceError, Step
from ..files import write_bytes
from .plan import PackageState

POLICY = Path("/usr/sbin/policy-rc.d")
FORBID = "#!/bin/sh\n# While Drawbridge installs packages, their services don't start.\nexit 101\n"
LOCK_WAIT_S = 300.0
LOOK_AGAIN_S = 1.0
KEEP_FILES = "--force-confold"
CAREFUL = ("-q", "--yes", "--no-remove", "-o", f"DPkg::Options::={KEEP_FILES}")
"""dpkg keeps existing configuration files, which are the site's or Drawbridge's, without a prompt."""
_LOCKED = re.compile(r"Could not get lock|Unable to (?:acquire|lock)|(?:is|was) locked by")


class Apt:
    """apt-get with all services kept off."""

    def __init__(self, run: Run, policy: Path = POLICY) -> None:
        self._run, self._policy = run, policy

    def install(self, names: Sequence[str], *options: str) -> None:
        """Update the package lists, then install without recommended packages.

        Packages that a killed installation left are configured first, because apt refuses to go on without. That may
        fail for missing dependencies; the installation then repairs them.
        """
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
        apt = [*quiet, "apt-get", *CAREFUL, *options]
        if names:
            self.run_unlocked([*apt, "update"])
        with self._services_stay_off():
            self.run_unlocked([*quiet, "dpkg", "--configure", KEEP_FILES, "--pending"], ok=(0, 1))
            self.run_unlocked([*apt, "--no-install-recommends", "--fix-broken", "install", *names])

    @property
    def cut_off(self) -> bool:
        """Whether an earlier installation was killed."""
        return self._policy.exists() and self._policy.read_text() == FORBID

    def run_unlocked(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> None:
        """Run a command; repeat it while another process, such as a killed run's apt, holds the package lock."""
        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                self._run(argv, ok=ok)
            except DeviceError as err:
                if not _LOCKED.search(err.details.get("stderr", "")) or time.monotonic() >= deadline:
                    raise
            else:
                return
            time.sleep(LOOK_AGAIN_S)

    @contextmanager
    def _services_stay_off(self) -> Iterator[None]:
        """Write POLICY while packages are installed. A later run sees by it that this one was killed."""
        if self._policy.exists() and self._policy.read_text() != FORBID:
            reason = "exists and is not Drawbridge's, so a package's service might start unconfigured; move it away"
            raise DeviceError(f"{self._policy} {reason}")
        write_bytes(self._policy, FORBID.encode(), 0o755, (os.geteuid(), os.getegid()))
        try:
            yield
        finally:
            self._policy.unlink(missing_ok=True)


class Packages:
    """Packages of this host."""

    name = "packages"

    def __init__(self, run: Run, wanted: Sequence[str], policy: Path = POLICY) -> None:
        self._run, self._wanted, self._apt = run, wanted, Apt(run, policy)

    def read(self) -> PackageState:
        """Query dpkg. A removed package that left its configuration is not installed."""
        if not self._wanted:
            return PackageState(frozenset())
        out = self._run(["dpkg-query", "-W", "-f", "${Package} ${Status}\\n", *self._wanted], ok=(0, 1)).out
        rows = [line.split() for line in out.splitlines()]
        installed = frozenset(row[0] for row in rows if row[1:] == ["install", "ok", "installed"])
        return PackageState(installed, cut_off=self._apt.cut_off)

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """Install them in one transaction."""
        self._apt.install([name for step in steps for name in step.payload])

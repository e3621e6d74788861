# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian's packages: installed without starting what they bring.

A daemon that starts before its configuration is there may wait for it: slurmd asks the network for 91 seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..converge import DeviceError, Step
from ..plans.packages import PackageState
from .command import Run

POLICY = Path("/usr/sbin/policy-rc.d")
FORBID = "#!/bin/sh\n# While Drawbridge installs packages, their services don't start.\nexit 101\n"
LOCK_WAIT_S = 300


class Packages:
    """Some packages of this host."""

    name = "packages"

    def __init__(self, run: Run, wanted: Sequence[str], policy: Path = POLICY) -> None:
        self._run, self._wanted, self._policy = run, wanted, policy

    def read(self) -> PackageState:
        """Ask dpkg; a package that was removed but has left its configuration is not installed."""
        out = self._run(["dpkg-query", "-W", "-f", "${Package} ${Status}\\n", *self._wanted], ok=(0, 1)).out
        rows = [line.split() for line in out.splitlines()]
        return PackageState(frozenset(row[0] for row in rows if row[1:] == ["install", "ok", "installed"]))

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """Read the package lists anew, then install. Recommended packages stay away."""
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_WAIT_S}"]
        self._run([*apt, "update"])
        with self._services_stay_off():
            for step in steps:
                self._run([*apt, "--yes", "--no-install-recommends", "install", *step.payload])

    @contextmanager
    def _services_stay_off(self) -> Iterator[None]:
        try:
            with self._policy.open("x") as file:
                file.write(FORBID)
            self._policy.chmod(0o755)
        except FileExistsError:
            if self._policy.read_text() != FORBID:
                reason = "is already there, so a package's service might start unconfigured; move it away"
                raise DeviceError(f"{self._policy} {reason}") from None
        try:
            yield
        finally:
            self._policy.unlink(missing_ok=True)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's kernel modules. They fit one kernel and one release of GPFS, and the daemon does not start without them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from ....core.converge import Step


@dataclass(frozen=True)
class KernelState:
    """The modules for the running kernel."""

    kernel: str = field(compare=False)
    built: bool = True
    """They exist and are not older than GPFS."""
    release: str = field(default="", compare=False)
    """GPFS's version, for messages."""
    headers: bool = field(default=True, compare=False)
    """The kernel's headers are installed."""
    kernels: tuple[str, ...] = field(default=(), compare=False)
    """Patterns of supported kernels; empty: not compared."""
    prebuilt: bool = field(default=False, compare=False)
    """They come in a package and are never compiled here."""

    def lines(self) -> list[str]:
        """One line."""
        return [f"kernel modules for {self.kernel} {'built' if self.built else 'missing or older than GPFS'}"]

    @property
    def unsupported(self) -> str:
        """Why GPFS must not run on this kernel; empty if it may."""
        if not self.kernels or any(fnmatchcase(self.kernel, pattern) for pattern in self.kernels):
            return ""
        return (
            f"drawbridge_gpfs.software.kernels has no kernel {self.kernel} for GPFS {self.release}"
            f" ({', '.join(self.kernels)}); boot one of these, or add this one once IBM supports it"
        )


def plan(have: KernelState, want: KernelState) -> list[Step[KernelState]]:
    """Build them for the running kernel. `want` has the patterns."""
    if have.built == want.built:
        return []
    reason = f"build GPFS's kernel modules for kernel {have.kernel}"
    return [Step(reason, lambda state: replace(state, built=True), refused=missing(have))]


def missing(have: KernelState) -> str:
    """Why the modules can't be built now; empty if they can."""
    if why := have.unsupported:
        return why
    gpfs = f"GPFS {have.release}".strip()
    if have.prebuilt:
        return (
            f"kernel {have.kernel} has no kernel modules of {gpfs}: the package gpfs.gplbin-{have.kernel} is not"
            " installed; put it into the packages' source and run this again"
        )
    if not have.headers:
        return (
            f"headers of kernel {have.kernel} are missing, so the modules of {gpfs} can't be built;"
            f" install linux-headers-{have.kernel} or kernel-devel-{have.kernel}, or boot a kernel with headers"
        )
    return ""

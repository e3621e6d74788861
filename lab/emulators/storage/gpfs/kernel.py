# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Building the kernel modules. It needs no cluster, and works for the running kernel alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...common import DIE, DRIFT, LIE
from . import software
from .members import options
from .model import Failed
from .text import dated

if TYPE_CHECKING:
    from .model import Cluster

RULE = "-" * 56


def mmbuildgpl(cluster: Cluster, argv: list[str]) -> int:
    """Build and install the kernel modules."""
    given, rest = options(argv, "v", "quiet", "build-package")
    if rest or "--build-package" in given:
        raise Failed("Incorrect option.", "Usage: mmbuildgpl [--quiet] [--build-package] [-v]")

    def framed(line: str) -> None:
        print(RULE, f"{line} {dated(cluster.now(), '')[:-2]}.", RULE, sep="\n")

    framed("mmbuildgpl: Building GPL module begins at")
    print("Verifying Kernel Header...", f"  kernel version = {software.kernel()}", sep="\n")
    print(f"  module include dir = {software.modules() / 'build/include'}", "Verifying Compiler...", sep="\n")
    if trouble := list(software.unbuildable(cluster.state["unsupported_kernels"])):
        print(*trouble, sep="\n")
        framed("mmbuildgpl: Building GPL module failed at")
        return 1
    print("make World ...", "make InstallImages ...", sep="\n")
    if cluster.effect != LIE:
        built_from = "0.0.0-0" if cluster.effect == DRIFT else software.release(cluster.state["version"])
        software.write_modules(built_from, software.MODULES[:1] if cluster.effect == DIE else software.MODULES)
    framed("mmbuildgpl: Building GPL module completed successfully at")
    return 0

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's hardware."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import option


@dataclass(frozen=True)
class Machine:
    """The hardware of the node class, as C(slurmd -C) counts it."""

    sockets: int = option("CPU sockets", low=1)
    cores_per_socket: int = option("cores of a socket", low=1)
    threads_per_core: int = option("hardware threads of a core", low=1)
    memory_mib: int = option("memory in MiB; more than this is no difference", low=1)
    gpus: int = option("GPUs, counted by their device files", low=0)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NCCL's INFO lines: over which paths a collective ran. A wrong path is a finding of its own, not a slow link.

The lines come with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET, on stdout or in the file of NCCL_DEBUG_FILE.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..measure import Found, Missing, Remark

NVLS_INACTIVE = "NVLS inactive"
SOCKET_FALLBACK = "NCCL over TCP sockets"
NO_GPU_DIRECT = "GPUDirect RDMA inactive"
NAMES = (NVLS_INACTIVE, SOCKET_FALLBACK, NO_GPU_DIRECT)
"""Names of the remarks. A caller leaves out those that its hardware cannot have, such as NVLS without NVSwitch."""
_INFO = re.compile(r"([\w.-]+):\d+:\d+ \[\d+\] NCCL INFO (.*)")
_NVLS = re.compile(r"\b(\d+) nvls channels\b")
_NETWORK = re.compile(r"Using network (.*\S)")
_CHANNEL = re.compile(r"Channel .* via NET/(\S+)")


def remarks(text: str, nodes: Sequence[str]) -> list[Found]:
    """What each node's lines show, in the order of `nodes`; `where` is the node.

    A node without the lines is Missing, because silence proves no path. Nodes are compared by their short names.
    """
    lines: dict[str, list[str]] = {}
    for host, line in _INFO.findall(text):
        lines.setdefault(host.split(".")[0], []).append(line)
    return [found for node in nodes for found in _of_node(node, "\n".join(lines.get(node.split(".")[0], ())))]


def _of_node(node: str, text: str) -> list[Found]:
    nvls, networks = [int(count) for count in _NVLS.findall(text)], _NETWORK.findall(text)
    if not nvls or not networks:
        why = "NCCL printed no INFO lines of INIT and NET on this node, so its paths are unknown"
        return [Missing("NCCL paths", node, why)]
    found: list[Found] = []
    if 0 in nvls:
        why = f"0 NVLS channels on {nvls.count(0)} of {len(nvls)} GPUs: see fabric manager, IMEX and the driver"
        found.append(Remark(NVLS_INACTIVE, node, why))
    if "Socket" in networks:
        why = "NCCL found no RDMA device that it can use, and sends through the kernel's TCP"
        return [*found, Remark(SOCKET_FALLBACK, node, why)]
    channels = _CHANNEL.findall(text)
    if without := [channel for channel in channels if "/GDRDMA" not in channel]:
        why = f"{len(without)} of {len(channels)} channels pass through host memory: see peer memory, ACS and IOMMU"
        found.append(Remark(NO_GPU_DIRECT, node, why))
    return found

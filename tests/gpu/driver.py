# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs as nvidia-smi prints them, apart from Drawbridge's own readers, and the differences between both. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

END = "</nvidia_smi_log>"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
UNKNOWN = -1
"""A NUMA node that is not known: in a virtual machine the kernel knows none, but the driver does."""


@dataclass(frozen=True)
class Gpu:
    """One GPU."""

    index: int
    uuid: str
    pci: str
    """As the kernel writes it, such as 0000:1b:00.0."""
    name: str
    minor: int
    numa: int = UNKNOWN
    divided: bool = False
    """Whether it is in MIG mode now, or will be after a reset."""

    @property
    def file(self) -> str:
        """Its device file."""
        return f"/dev/nvidia{self.minor}"


def gpus(details: str, topology: str) -> list[Gpu]:
    """GPUs in index order, from `nvidia-smi -q -x` and `nvidia-smi topo -m`."""
    log = ElementTree.fromstring(details[details.index("<nvidia_smi_log") : details.index(END)] + END)
    near = numa_nodes(topology)
    return [
        Gpu(
            index,
            gpu.findtext("uuid", ""),
            gpu.get("id", "").lower()[-len("0000:00:00.0") :],
            gpu.findtext("product_name", ""),
            int(gpu.findtext("minor_number", "")),
            near.get(index, UNKNOWN),
            "Enabled" in (gpu.findtext("mig_mode/current_mig"), gpu.findtext("mig_mode/pending_mig")),
        )
        for index, gpu in enumerate(log.iterfind("gpu"))
    ]


def numa_nodes(text: str) -> dict[int, int]:
    """The NUMA node of each GPU by its index, without GPUs for which the driver prints no single node."""
    rows = [[word.strip() for word in COLOUR.sub("", line).split("\t")] for line in text.splitlines()]
    head = next((row for row in rows if "NUMA Affinity" in row), None)
    if head is None:
        return {}
    place, found = head.index("NUMA Affinity"), {}
    for row in rows:
        gpu = re.fullmatch("GPU([0-9]+)", row[0])
        if gpu and len(row) > place and row[place].isdigit():
            found[int(gpu[1])] = int(row[place])
    return found


def unfit(found: Sequence[Gpu], users: Sequence[int]) -> str:
    """Why these GPUs can't be tested; empty if they can. `users` are processes on them."""
    if divided := [it.index for it in found if it.divided]:
        return f"GPU {divided[0]} is in MIG mode; the tests need whole GPUs and change no mode"
    if len({it.name for it in found}) > 1:
        return f"the GPUs are of different products ({', '.join(it.name for it in found)}), and a node class has one"
    return f"process {users[0]} uses a GPU; end it, because the tests need idle GPUs" if users else ""


def differences(found: Sequence[Gpu], read: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where Drawbridge's facts about GPUs differ from nvidia-smi, in words."""
    if len(found) != len(read):
        return [f"{len(read)} GPUs instead of {len(found)}"]
    return [
        f"GPU {gpu.index}: {key} {facts[key]!r} instead of {wanted!r}"
        for gpu, facts in zip(found, read, strict=True)
        for key, wanted in expected(gpu, facts["numa"]).items()
        if facts[key] != wanted
    ]


def expected(gpu: Gpu, numa: int) -> dict[str, Any]:
    """The facts of a GPU. Its NUMA node counts only where both the driver and the kernel know it."""
    near = numa if UNKNOWN in (numa, gpu.numa) else gpu.numa
    return {"vendor": "nvidia", "pci": gpu.pci, "name": gpu.name, "minor": gpu.minor, "numa": near}


def accepts(product: str, kind: str) -> bool:
    """Whether Slurm's own detection accepts a type for a product: the type is a part of the product's name."""
    return bool(kind) and kind in product.lower().replace(" ", "_")

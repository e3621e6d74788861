# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of GPUs as values, the same for all vendors. The files of vendors read it from their tools' texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional, Union

Value = Union[str, float, bool]
Read = Optional[Value]
"""None: the tool says that it does not apply to this GPU."""
PRODUCT, PCI = "product", "pci"
GENERATION, WIDTH, MOST_GENERATION, MOST_WIDTH = "generation", "width", "most generation", "most width"
ACTIVE = "active"
"""Whether the GPU is awake: a sleeping one may lower the generation of its link."""
ECC, UNCORRECTED, BEYOND_REPAIR, REPAIR_WAITS = "ECC", "uncorrected", "beyond repair", "repair waits"
REMAP_PENDING, REMAP_FAILED, PAGES_WAIT = "remap pending", "remap failed", "pages wait"
FABRIC, FABRIC_STATUS, FABRIC_HEALTH = "fabric", "fabric status", "fabric health"
SLOWED, POWER, DEFAULT_POWER, CLOCK, DEFAULT_CLOCK = "slowed", "power", "default power", "clock", "default clock"
PERSISTENT, ADVICE, HEAT_LEFT = "persistent", "advice", "heat left"
DIVIDING, INSTANCES = "dividing", "instances"
"""Names of values. Numbers: generation and width of the PCIe link, errors, watts, MHz, degrees to the slowdown, and
instances. Dividing: whether the GPU is in the mode in which it has instances."""
REBOOT, REPAIR = "reboot", "repair"
"""What ends a fault, apart from that it is gone."""


def ends_of(advice: str) -> str:
    """What ends a fault for which a driver gives this advice. A person decides about a drain, and about new words."""
    resets = any(word in advice for word in ("Reboot", "Reset", "FLR"))
    return REBOOT if resets and "Drain" not in advice else REPAIR


@dataclass(frozen=True)
class GpuState:
    """What the driver says of one GPU. `unknown` has the texts that were not recognised, by the name of the value."""

    index: int
    values: Mapping[str, Read]
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LogEntry:
    """A fault of a GPU in the kernel's log. `felt`: jobs may fail until it is repaired; else the next job runs."""

    pci: str
    code: str
    text: str
    felt: bool
    meaning: str
    ends: str = ""
    """REBOOT or REPAIR for one that is felt."""
    warning: bool = False
    """Jobs run on, but it is worth a look."""
    part: str = "GPU"
    """Kind of the device at the address."""


@dataclass(frozen=True)
class StateReader:
    """How a vendor's GPUs show their state. All programs only read."""

    programs: Sequence[tuple[str, ...]]
    """Their outputs, in this order, are the state of all GPUs, or what `files` lack of it."""
    read: Callable[[Sequence[str], Mapping[str, str]], list[GpuState]]
    """Reads the outputs of calls(), and files by path. Raises ValueError for texts that it does not know."""
    covers: frozenset[str]
    """The values that it reads."""
    files: Sequence[str] = ()
    """Files of the state; each path may have `*`."""
    by_programs: frozenset[str] = frozenset()
    """The values that no file has, for a vendor with files."""
    links: tuple[str, ...] = ()
    """Program that prints the links between the GPUs."""
    read_links: Callable[[str], Mapping[int, Sequence[float]]] = lambda text: {}
    """GB/s of each link by the index of the GPU, 0 for a link that is down. Raises ValueError."""
    read_log: Callable[[str], list[LogEntry]] | None = None
    """Faults in the text of the kernel's log."""
    persistence_unit: str = ""
    """Unit that keeps the driver loaded."""

    def calls(self, values: Collection[str]) -> Sequence[tuple[str, ...]]:
        """The programs that must run for these values. A file needs no tool, and a tool reads the same files."""
        return self.programs if not self.files or self.by_programs.intersection(values) else ()

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between vendors of GPUs. All layers read it from the table in vendors.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Vendor:
    """How a vendor's GPUs show themselves to nodes, to Slurm, to the gate and to pods."""

    devices: str
    """Path of a GPU's device file, without its number."""
    major: int
    """The kernel's number of these files."""
    minors_below: int
    """Files with this number from here on are no GPUs."""
    pci: str
    """The vendor on the PCI bus, as /sys has it."""
    pci_classes: tuple[str, ...]
    products: Sequence[str]
    """Command that prints PCI address and product name of each GPU, in the driver's order."""
    read_products: Callable[[str], list[dict[str, str]]]
    """What it printed, with `pci` and `name`."""
    about: str
    """The driver's file about the GPU at {pci}."""
    read_minor: Callable[[str], int]
    """What it says of the number of the GPU's device file; -1 for nothing."""
    listing: Sequence[str]
    """Command that prints a line for each GPU of which the driver has not lost sight."""
    listed: str
    """How such a line begins."""
    release: Sequence[str]
    """Command that prints the driver's version for each GPU."""
    processes: Sequence[str]
    """Command that prints the numbers of processes on GPUs."""
    topology: str
    """Command that shows a person the NUMA node of each GPU."""
    driver: str
    """File that says which driver is loaded."""
    driver_version: str
    """File with the version of the loaded driver, and nothing else."""
    identity: str
    """Key in the file `about` whose value no other GPU has."""
    open_driver: str
    """What the file says of a driver through which NICs reach GPU memory (dma-buf)."""
    peer_memory: str
    """Kernel module by which they do with another driver."""
    switches: str
    """Path of the device file of a switch between GPUs, without its number."""
    switch_unit: str
    """Unit that a host with such switches needs."""
    resource: str
    """Name of the GPUs in Kubernetes."""
    environment_flag: str
    """Slurm's flag by which a job gets this vendor's variables alone."""
    daemons: tuple[str, ...]
    """Programs of the vendor that may use GPUs at any time, by file name."""

    def proof(self) -> Mapping[str, Any]:
        """What the gate needs for its proof that no process holds a GPU."""
        return {
            "devices": self.devices,
            "major": self.major,
            "minors_below": self.minors_below,
            "processes": list(self.processes),
        }

    def needs_peer_memory(self, driver: str) -> bool:
        """Whether a loaded driver, by the text of its file, reaches NICs only through PEER_MEMORY."""
        return bool(driver) and self.open_driver not in driver

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between vendors of GPUs. All layers read it from the table in vendors.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Layout = Mapping[str, int]
"""Instances of one GPU by profile; none of a whole one."""


@dataclass(frozen=True)
class Mode:
    """Whether a GPU is in the mode in which it has instances: now, and after its next reset."""

    now: bool = False
    later: bool = False
    possible: bool = True


@dataclass(frozen=True)
class Divider:
    """The tool that divides a vendor's GPUs, and another one that reads the mode of each."""

    modes: Sequence[str]
    """Command that prints the mode of each GPU."""
    read_modes: Callable[[str], Sequence[Mode]]
    """What it printed, in index order. Raises ValueError for other texts."""
    program: str
    """The tool that divides."""
    package: str
    """Where it comes from, for people."""
    apply: Sequence[str]
    """Its arguments that apply the configuration of its input."""
    check: Sequence[str]
    """Its arguments that compare the GPUs with that configuration."""
    configuration: Callable[[Sequence[Layout]], str]
    """Its configuration for GPUs with these layouts, in index order."""
    in_use: str
    """Regular expression of what it prints about a GPU that a program holds."""
    holders: str
    """Such programs, for people."""
    unit: str
    """Unit that divides GPUs at each boot by a file of its own."""
    stays_whole: str
    """How a person keeps GPU {gpu} whole at its next reset."""


@dataclass(frozen=True)
class Partition:
    """A partition mode of a vendor's GPUs."""

    files: str
    """The file of each GPU that has the mode alone."""
    repair: str
    """How a person sets {mode} on a drained node."""
    live: bool = False
    """The kernel changes it while it runs, by a write into the file."""


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
    types: str
    """Regular expression of models, in small letters: no other vendor has these."""
    products: Sequence[str]
    """Command that prints PCI address and product name of each GPU, in the driver's order."""
    read_products: Callable[[str], list[dict[str, str]]]
    """What it printed, with `pci` and `name`. Raises ValueError for other texts."""
    about: str
    """The driver's file about the GPU at {pci}."""
    topology: str
    """Command that shows a person the NUMA node of each GPU."""
    driver: str
    """File that says which driver is loaded."""
    driver_version: str
    """File with the version of the loaded driver, and nothing else."""
    resource: str
    """Name of the GPUs in Kubernetes."""
    environment_flag: str
    """Slurm's flag by which a job gets this vendor's variables alone."""
    slurm_plugin: str
    """File of Slurm's plugin that detects this vendor's GPUs."""
    daemons: tuple[str, ...]
    """Programs of the vendor that may use GPUs at any time, by file name."""
    identity: str = ""
    """Key in the file `about` whose value no other GPU has; empty: the file has this value alone."""
    minors_from: int = 0
    """Files with a smaller number are no GPUs."""
    counted: bool = True
    """The numbers of the device files are 0, 1, 2 and so on, unless the intent says otherwise."""
    read_minor: Callable[[str], int] = lambda text: -1
    """What the file `about` says of the number of the GPU's device file; -1 for nothing."""
    listing: Sequence[str] = ()
    """Command that prints a line for each GPU of which the driver has not lost sight; empty: `kernel_list`."""
    listed: str = ""
    """How such a line begins. In a file of `kernel_list`: regular expression of the line that a GPU alone has."""
    kernel_list: str = ""
    """The kernel's files about GPUs and CPUs, in its own order, where no tool is needed."""
    read_kernel_list: Callable[[str], dict[str, Any]] = lambda text: {}
    """What such a file says of a GPU, with `pci` and `minor`; empty for a CPU. Raises ValueError for other texts."""
    release: Sequence[str] = ()
    """Command that prints the driver's version for each GPU; empty: `driver_version`, or the kernel's."""
    loaded: str = ""
    """What the file `driver` says of a driver that works, where no tool says so."""
    processes: Sequence[str] = ()
    """Command that prints the numbers of processes on GPUs."""
    process_folder: str = ""
    """The kernel's folder with a folder for each process that may use GPUs, named by its number."""
    partitions: Mapping[str, Partition] = field(default_factory=dict)
    """How a GPU is partitioned, by the key of the intent."""
    parts: Callable[[str], Mapping[str, int]] = lambda model: {}
    """GPUs that each compute mode makes of one GPU of a type; empty for a type whose modes are not known."""
    fitting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Compute modes that each memory mode of these types can have."""
    autodetect: str = ""
    """Slurm's word for the detection of instances by `slurm_plugin`."""
    instance: str = ""
    """Regular expression of an instance's line in `listing`, below the line of its GPU, with the profile as a group."""
    divider: Divider | None = None
    """The tool that divides GPUs; None for a vendor without instances."""
    instance_resource: str = ""
    """Name of instances of one {profile} in Kubernetes."""
    job_mapping: str = ""
    """Directory in which the vendor's exporter reads the job of each GPU; empty: Drawbridge's own."""
    exporter_port: int = 0
    """Port at which the vendor's exporter answers by default; 0: Drawbridge knows none."""
    open_driver: str = ""
    """What `driver` says of a driver through which NICs reach GPU memory (dma-buf)."""
    peer_memory: str = ""
    """Kernel module by which they do with another driver; empty: all drivers have dma-buf."""
    switches: str = ""
    """Path of the device file of a switch between GPUs, without its number; empty: there are none."""
    switch_unit: str = ""
    """Unit that a host with such switches needs."""
    collectives: str = ""
    """A further file with the settings of the collective library, beside NCCL's."""

    def proof(self) -> Mapping[str, Any]:
        """What the gate needs for its proof that no process holds a GPU."""
        return {
            "devices": self.devices,
            "major": self.major,
            **({"minors_from": self.minors_from} if self.minors_from else {}),
            "minors_below": self.minors_below,
            "processes": list(self.processes),
            **({"process_folder": self.process_folder} if self.process_folder else {}),
        }

    def needs_peer_memory(self, driver: str) -> bool:
        """Whether a loaded driver, by the text of its file, reaches NICs only through PEER_MEMORY."""
        return bool(driver and self.peer_memory) and self.open_driver not in driver

    def makes(self, model: str) -> bool:
        """Whether a type of Slurm or a product name is this vendor's alone."""
        return bool(re.fullmatch(self.types, model.lower()))

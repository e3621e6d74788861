# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof: tools and directories of the measurements, limits of the site, passports and patrol."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

from ..core.options import FILE, HOSTS, Shape, option

NUMBER = Shape(r"(?!0+(\.0+)?$)[0-9]{1,9}(\.[0-9]{1,6})?", "a limit", "a number above 0, such as 370 or 4.5")
MOUNT_TYPE = Shape(
    r"[a-z0-9][a-z0-9._-]{0,31}",
    "a type of file systems",
    "at most 32 small letters, digits, dots, dashes and underscores, such as xfs",
)
MEASURE = Shape(
    r"[A-Za-z][A-Za-z0-9 _(),/.-]{0,63}",
    "the name of a measure",
    "at most 64 letters, digits, blanks and signs, such as rail bandwidth",
)
UNIT = Shape(r"[A-Za-z%][A-Za-z0-9%/^.-]{0,15}", "a unit", "at most 16 letters, digits and signs, such as tokens/s")
MPI = ("pmix", "pmi2", "openmpi")


@dataclass(frozen=True)
class Tools:
    """Measuring tools of the site on the nodes. perftest and fio are found in PATH."""

    nccl_tests: str = option(
        "folder with all_reduce_perf of nccl-tests or rccl-tests, built with MPI (empty: the report says that GPUs were"
        " not measured over the fabric)",
        "",
        pattern=FILE,
    )
    mpi: str = option("C(--mpi) of srun for nccl_tests", "pmix", choices=MPI)
    nvbandwidth: str = option("program nvbandwidth (empty: the report says that it is missing)", "", pattern=FILE)
    stream: str = option("program STREAM (empty: memory bandwidth is not measured)", "", pattern=FILE)
    gemm: str = option(
        "program that prints BF16 TFLOPS of each GPU as lines C(GPU 0: 740.1 TFLOPS) (empty: not measured)",
        "",
        pattern=FILE,
    )
    dcgmi: str = option("program dcgmi, for C(dcgmi diag) (empty: it does not run)", "", pattern=FILE)


@dataclass(frozen=True)
class Directory:
    """A directory in which jobs read and write, on a shared file system or a disk of the node."""

    path: str = option("absolute path; the proof makes a folder of its own in it and removes it", pattern=FILE)
    file_system: str = option(
        "type of its mount as findmnt prints it, such as xfs: another one is a finding",
        pattern=MOUNT_TYPE,
    )
    read_mb_s: int = option("MB/s (1e6 bytes) that each node must read", 2000, low=1)
    write_mb_s: int = option("MB/s (1e6 bytes) that each node must write", 2000, low=1)
    metadata_per_s: int = option("files that each node must create in a second (0: no limit)", 0, low=0)
    shared: bool = option("true: all nodes measure it together, too", True)
    size_mib: int = option("MiB that each process of a node writes; more than its share of the cache", 4096, low=1)


@dataclass(frozen=True)
class Training:
    """A training script of the site with a limit: it ends with exit code 0 and prints the value as its last line."""

    command: str = option("program on the nodes; it runs once on each node", pattern=FILE)
    limit: str = option("the least value, or with at_most the largest one", pattern=NUMBER)
    seconds: int = option("seconds after which it is ended", 600, low=10, high=3600)
    unit: str = option("unit of the printed value, such as tokens/s or s", "tokens/s", pattern=UNIT)
    at_most: bool = option("true: the limit is the largest value, as for the time of a step", False)


@dataclass(frozen=True)
class ClassProof:
    """What a node class must prove."""

    passport: bool = option("true: its nodes take jobs only with a valid passport", False)
    socket_memory_gb_s: int = option("GB/s of STREAM's triad on one socket (0: no limit)", 0, low=0)
    training: Optional[Training] = option("a training script with a limit", None)


@dataclass(frozen=True)
class Patrol:
    """Proofs of idle nodes at a timer, one part of them at a time."""

    percent_per_hour: int = option("share of the nodes that is measured in an hour (0: no patrol)", 0, low=0, high=100)


@dataclass(frozen=True)
class SiteLimit:
    """A limit of the site, which counts for all classes."""

    measure: str = option("name of the measure, such as rail bandwidth; reports have it", pattern=MEASURE)
    value: str = option("the limit in the unit of the measure, such as '370'", pattern=NUMBER)


@dataclass(frozen=True)
class Uplinks:
    """The cables of leaves to spines."""

    leaves: str = option("hostlist of the leaves", hosts=HOSTS)
    gbps: int = option("Gb/s of all cables of one leaf together, such as 12800", low=1)


@dataclass(frozen=True)
class Proof:
    """drawbridge_proof: measurements of nodes, rails, fabric and file systems."""

    tools: Tools = option("measuring tools of the site", Tools())
    directories: tuple[Directory, ...] = option("directories whose rates are measured", ())
    classes: dict[str, ClassProof] = option("what each node class must prove, by its name", MappingProxyType({}))
    limits: tuple[SiteLimit, ...] = option("limits of the site, in place of derived ones", ())
    uplinks: tuple[Uplinks, ...] = option("uplinks of leaves, where C(drawbridge_fabric.cabling) does not say", ())
    most_days: int = option("age in days after which a passport is stale (0: age does not matter)", 0, low=0)
    seconds: int = option("duration of one measurement of the fabric", 10, low=1, high=60)
    group: int = option("most nodes of a unit in one test of the fabric", 32, low=2, high=256)
    incast: int = option("most senders of an incast (0: no incast)", 16, low=0, high=64)
    patrol: Patrol = option("proofs of idle nodes at a timer", Patrol())

    @property
    def patrols(self) -> bool:
        """Whether idle nodes are proved at a timer."""
        return self.patrol.percent_per_hour > 0

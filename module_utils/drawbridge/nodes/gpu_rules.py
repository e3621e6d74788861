# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of GPUs: device files, vendor and partition modes that the hardware can have."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from ..core.faults import Fault
from ..core.rules import doubled
from .gpus.divisible import MODELS, divisible
from .gpus.profiles import Divisible
from .gpus.vendors import VENDORS
from .model import Gpus, Nodes


def gpus_have_files(nodes: Nodes) -> Iterator[Fault]:
    """Each GPU has a device file of its own."""
    for name, build in nodes.classes.items():
        key, minors, vendor = f"drawbridge_nodes.classes.{name}.gpus.minors", build.gpus.minors, build.gpus.made_by
        if build.gpus.count and not minors and not vendor.counted:
            reason = f"numbers of {vendor.devices} files have steps that differ between drivers and partitions"
            yield Fault(key, [], reason, f"list those of {vendor.kernel_list}, in its order")
        if bad := [minor for minor in minors if not vendor.minors_from <= minor < vendor.minors_below]:
            reason = f"{vendor.devices}{bad[0]} is no GPU of {build.gpus.vendor}"
            repair = f"use numbers from {vendor.minors_from} to {vendor.minors_below - 1}"
            yield Fault(key, list(minors), reason, repair)
        if minors and len(minors) != build.gpus.count:
            reason = f"gpus.numa lists {build.gpus.count} GPUs"
            yield Fault(key, list(minors), reason, "list one number for each GPU, in the same order")
        if build.gpus.others and build.gpus.count and not minors:
            reason = f"gpus.others says that {build.gpus.others} of the node's GPUs get no jobs"
            yield Fault(key, list(minors), reason, "list the numbers of the device files of the GPUs for jobs")
        yield from doubled(key, [str(minor) for minor in minors], "give each GPU the number of its own device file")


def gpus_are_their_vendors(nodes: Nodes) -> Iterator[Fault]:
    """A type or a product of another vendor would get the wrong device files, and jobs no GPU."""
    for name, build in nodes.classes.items():
        gpus, key = build.gpus, f"drawbridge_nodes.classes.{name}.gpus"
        models = {"type": gpus.type, "product": gpus.product}
        for part, model in models.items() if gpus.present else ():
            other = next((vendor for vendor, row in VENDORS.items() if row.makes(model)), gpus.vendor)
            if other != gpus.vendor and not gpus.made_by.makes(model):
                reason = f"{part} {model} is a GPU of {other}, and it would get device files {gpus.made_by.devices}"
                yield Fault(f"{key}.vendor", gpus.vendor, reason, f"set vendor: {other}, or correct {part}")
                break


def partitions_are_possible(nodes: Nodes) -> Iterator[Fault]:
    """A mode that the model can't have is never reached, and each part of a GPU is a GPU of the class."""
    for name, build in nodes.classes.items():
        key, gpus = f"drawbridge_nodes.classes.{name}.gpus", build.gpus
        for part in sorted(gpus.modes.keys() - gpus.made_by.partitions.keys()):
            reason = f"GPUs of {gpus.vendor} have no such mode"
            yield Fault(f"{key}.partition.{part}", gpus.modes[part], reason, "remove it")
        compute, memory = gpus.partition.compute, gpus.partition.memory
        parts, fitting = gpus.made_by.parts(gpus.type), gpus.made_by.fitting
        if not parts or not gpus.modes:
            continue
        if compute and compute not in parts:
            yield Fault(f"{key}.partition.compute", compute, f"{gpus.type} has no such mode", f"use {', '.join(parts)}")
        elif compute and memory and compute not in (fits := fitting.get(memory, ())):
            reason = f"{gpus.type} has it only with compute {' or '.join(fits) or 'of another model'}"
            yield Fault(f"{key}.partition.memory", memory, reason, "set memory: NPS1, or another compute")
        elif compute and gpus.count % parts[compute]:
            reason = f"{compute} makes {parts[compute]} GPUs of each {gpus.type}, and it lists {gpus.count}"
            yield Fault(f"{key}.numa", list(gpus.numa), reason, "list the NUMA node and the render node of each part")


def instances_are_possible(nodes: Nodes) -> Iterator[Fault]:
    """A layout that a GPU can't have would leave it without instances, and the tool that makes them says nothing."""
    for name, build in nodes.classes.items():
        gpus, key = build.gpus, f"drawbridge_nodes.classes.{name}.gpus"
        parts = [("mig.layout", gpus.mig.layout)]
        parts += [(f"mig.exceptions[{at}].layout", part.layout) for at, part in enumerate(gpus.mig.exceptions)]
        divided = [(f"{key}.{place}", layout) for place, layout in parts if layout]
        yield from _exceptions(key, gpus)
        if not divided:
            continue
        if gpus.vendor not in MODELS:
            reason = f"GPUs of {gpus.vendor} have no instances"
            yield Fault(f"{key}.mig", gpus.vendor, reason, "remove mig")
        elif not (model := divisible(gpus.vendor, gpus.product)):
            reason = "Drawbridge knows no instances of this product" if gpus.product else "profiles differ by product"
            models = ", ".join(MODELS[gpus.vendor].known)
            repair = f"write the name as {shlex.join(gpus.made_by.products)} prints it; known are {models}"
            yield Fault(f"{key}.product", gpus.product, reason, repair)
        else:
            for place, layout in divided:
                yield from _fitting(place, layout, model, gpus.product)
            yield from _whole(key, gpus)
        if gpus.shards:
            reason = "Slurm shares whole GPUs alone, and jobs of shards could get an instance of any size"
            yield Fault(f"{key}.shards", gpus.shards, reason, "remove shards or mig, or use two node classes")
        if gpus.others:
            reason = "Slurm detects the GPUs of a node with instances, and would give these to jobs as well"
            yield Fault(f"{key}.others", gpus.others, reason, "list all GPUs in numa, or remove mig")


def _whole(key: str, gpus: Gpus) -> Iterator[Fault]:
    """Slurm detects the GPUs of such a node, and knows whole ones by a part of the product's name."""
    detected = "_".join(gpus.product.lower().split())
    if not all(gpus.layouts) and gpus.type.lower() not in detected:
        reason = f"Slurm detects the GPUs that stay whole as {detected}, of which the type must be a part"
        yield Fault(f"{key}.type", gpus.type, reason, "use such a part, or divide all GPUs")


def _fitting(key: str, layout: Mapping[str, int], model: Divisible, product: str) -> Iterator[Fault]:
    """The profiles are those of the product, and one GPU has room for all."""
    shown = ", ".join(f"{name}: {count}" for name, count in layout.items())
    if unknown := [name for name in layout if name not in model.profiles]:
        reason = f"{product} has no instances of {unknown[0]}"
        if "+" in unknown[0] or "-" in unknown[0]:
            reason = f"Slurm finds types by parts of their names, and {unknown[0]} would be one with the plain profile"
        yield Fault(key, f"{{{shown}}}", reason, f"use {', '.join(model.profiles)}")
    elif not model.has_room(layout):
        reason = f"one {product} has no room for all of these instances"
        yield Fault(key, f"{{{shown}}}", reason, "take some out, or use smaller ones")


def _exceptions(key: str, gpus: Gpus) -> Iterator[Fault]:
    """Each exception names GPUs of the class, and each GPU once."""
    listed = [gpu for part in gpus.mig.exceptions for gpu in part.gpus]
    if bad := [gpu for gpu in listed if gpu >= gpus.count]:
        reason = f"gpus.numa lists {gpus.count} GPUs, from 0"
        yield Fault(f"{key}.mig.exceptions", bad[0], reason, "use the index of a GPU in numa")
    yield from doubled(f"{key}.mig.exceptions", [str(gpu) for gpu in listed], "name each GPU in one exception")


RULES = (gpus_have_files, gpus_are_their_vendors, partitions_are_possible, instances_are_possible)

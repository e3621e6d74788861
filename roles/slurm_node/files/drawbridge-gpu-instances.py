# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Divide the GPUs of this node at its boot, before slurmd starts: drawbridge-gpu-instances [--place FILE].

GPUs lose their instances at a boot. Code and arguments are those of module gpu_instances. While slurmd or a job runs,
nothing changes. Each line of the output is a change; the last one says why GPUs are not divided, with exit code 1.

slurmd starts all the same. It registers fewer instances than slurm.conf has, so the node gets no jobs (INVAL), and the
health check names the instances that are missing.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-gpu-instances"))

# these imports need the line above
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.converge import DeviceError, converge  # noqa: E402
from drawbridge.nodes.gpus.instances_io import Instances, Slurm  # noqa: E402
from drawbridge.nodes.gpus.instances_plan import plan, wanted  # noqa: E402
from drawbridge.nodes.gpus.vendors import VENDORS  # noqa: E402

PLACE = Path("/etc/drawbridge/gpu-instances.json")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
READ_S, DIVIDE_S = 120.0, 300.0
"""For one reading, and for one call of the tool that divides."""


def divide(place: Path, stamp: str) -> str:
    """Divide the GPUs, print each change, and return why some are not divided. Raises DeviceError."""
    try:
        settings = json.loads(place.read_text())
        vendor, want, name = VENDORS[settings["gpu_vendor"]], wanted(settings["gpus"]), str(settings["name"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        return f"{place} has no instances of GPUs, run site.yml: {type(err).__name__}: {err}"
    if not (vendor.divider and want.gpus):
        return f"{place} has no instances of GPUs, run site.yml"
    run = Command(READ_S)
    device = Instances(vendor, vendor.divider, want, run, lambda text: Command(DIVIDE_S, stdin=text))
    device.stamp = stamp or device.stamp
    done = converge(device, plan, want, in_use=Slurm(run, name).at_boot)
    for step in done.done:
        print(step)
    return done.error or "; ".join(done.pending)


def main() -> str:
    """Divide, and return the error."""
    parser = argparse.ArgumentParser(prog="drawbridge-gpu-instances")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="FILE", help="layouts of the GPUs")
    parser.add_argument("--stamp", default="", metavar="FILE", help="written before a change")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="where to find tools")
    options = parser.parse_args()
    os.environ["PATH"] = options.path
    try:
        return divide(options.place, options.stamp)
    except DeviceError as err:
        return str(err)


if __name__ == "__main__":
    sys.exit(main() or 0)

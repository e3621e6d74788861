# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check or repair the RDMA ports of this node without Ansible: drawbridge-nic look|apply [PORT].

Ports lose their settings at a boot or a reset of the driver. `apply` sets all of them again before slurmd starts, and
those of one port when it appears, for example after a reload of its driver. One call at a time repairs.
`look` changes nothing and is a part of slurm-health. Code and arguments are those of the role's modules. If a setting
differs, the exit code is 1 and one line has the reason.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-nic"))

# these imports need the line above
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.converge import DeviceError, converge  # noqa: E402
from drawbridge.nic import io as ports  # noqa: E402
from drawbridge.nic import plan as qos  # noqa: E402
from drawbridge.nic.backends_io import backends  # noqa: E402
from drawbridge.nic.links import io as devices  # noqa: E402
from drawbridge.nic.links import plan as links  # noqa: E402
from drawbridge.nic.roce import io as rdma  # noqa: E402
from drawbridge.nic.roce import plan as roce  # noqa: E402

PLACE = Path("/etc/drawbridge/nic.json")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 30.0
RDMA_S, RDMA_CHECK_S = 30.0, 0.2
"""Time for a port's RDMA device, which the kernel makes after the network device, and the interval of the checks."""
CONSENTS = {"may_flap_links": True}
"""After a boot no job uses a link. Steps of a job that outlived its slurmd show as processes."""


class Part:
    """The settings that one module makes: its device, plan and goal."""

    def __init__(self, device: Any, plan: Any, want: Any) -> None:
        self.device, self.plan, self.want = device, plan, want

    def look(self) -> str:
        """The first difference from the settings. Raises DeviceError."""
        done = converge(self.device, self.plan, self.want, check=True, options=CONSENTS)
        return done.error or (f"NIC settings differ, run nic.yml: {done.steps[0]}" if done.steps else "")

    def apply(self, run: Command) -> str:
        """Repair, and return the differences that remain. Raises DeviceError.

        What would disturb jobs that outlived their slurmd waits; until then slurm-health keeps new jobs off.
        """

        def in_use() -> str:
            return "a Slurm job is on this node" if run(["pgrep", "-x", "slurmstepd"], ok=(0, 1)).out else ""

        done = converge(self.device, self.plan, self.want, options=CONSENTS, in_use=in_use)
        for step in done.done:
            print(step)
        return done.error or ("; ".join(done.pending) if in_use() else "")


def parts(settings: dict[str, Any], run: Command, port: str) -> list[Part]:
    """The parts of one port, or of all, in the order of the role.

    Raises LookupError, TypeError or ValueError for other data.
    """
    ports_want, links_want = qos.wanted(settings["qos"]), links.wanted(settings["mtu"])
    rdma_want = roce.wanted(settings["roce"])
    if not links_want.links:
        raise ValueError("no ports")
    if port:
        ports_want = qos.NicQos({name: it for name, it in ports_want.ports.items() if name == port})
        links_want = links_want.of({port})
        own = {name: it for name, it in rdma_want.devices.items() if name == port or port in it.ports}
        rdma_want = dataclasses.replace(rdma_want, devices=own, carries={})
        wait_for(rdma_want)
    return [
        Part(ports.NicPorts(run, backends(run), ports_want), qos.plan, ports_want),
        Part(devices.NicDevices(run, links_want), links.plan, links_want),
        Part(rdma.RdmaDevices(run, rdma_want), roce.plan, rdma_want),
    ]


def wait_for(want: roce.NicRoces) -> None:
    """Wait for RDMA devices that the kernel has yet to make. One that stays away is a failure of the reading."""
    deadline = time.monotonic() + RDMA_S
    while time.monotonic() < deadline and not all(rdma.exists(it) for it in want.devices.values()):
        time.sleep(RDMA_CHECK_S)


def main() -> str:
    """Look or apply, and return the error."""
    parser = argparse.ArgumentParser(prog="drawbridge-nic")
    parser.add_argument("verb", choices=["look", "apply"])
    parser.add_argument("port", nargs="?", default="", help="a port; without one all of them")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for one run of a tool")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="FILE", help="settings of the ports")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="where to find tools")
    options = parser.parse_args()
    os.environ["PATH"] = options.path
    run = Command(options.limit)
    with contextlib.ExitStack() as held:
        return work(options, run, held)


def work(options: argparse.Namespace, run: Command, held: contextlib.ExitStack) -> str:
    """Read the settings, hold their file against other calls, and look or apply."""
    try:
        file = held.enter_context(options.place.open())
        if options.verb == "apply":
            fcntl.flock(file, fcntl.LOCK_EX)
        found = parts(json.loads(file.read()), run, options.port)
    except (OSError, ValueError, LookupError, TypeError) as err:
        return f"{options.place} has no settings of the ports, run nic.yml: {type(err).__name__}: {err}"
    wrong = []
    for part in found:  # a part that fails keeps no other from its repair
        try:
            wrong.append(part.look() if options.verb == "look" else part.apply(run))
        except DeviceError as err:
            wrong.append(str(err))
    return "; ".join(filter(None, wrong))


if __name__ == "__main__":
    sys.exit(main() or 0)

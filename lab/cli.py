# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's command: one function a verb."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from lab import options, plant, switchboard
from lab.errors import LabError
from lab.hosts import checks, lock, machine, requirements, site, status
from lab.hosts.nspawn import Nspawn
from lab.hosts.paths import Paths
from lab.hosts.room import Room
from lab.hosts.site import Host
from lab.image import build
from lab.kubernetes import images, installer
from lab.tools import build as tools
from lab.tools import definitions
from lab.vm import kernel


def say(line: str) -> None:
    """Progress goes where a person sees it at once, and never into what `lab env` prints."""
    print(line, file=sys.stderr, flush=True)


class Command:
    """The verbs; each returns the exit code."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        """`chosen` is what lab.options parsed."""
        self.options = chosen
        self.paths = Paths.of()
        file = site.file_of(os.environ.get("LAB_SITE", ""))
        self.site = site.load(self.paths.lab_id, file, os.environ.get("LAB_KUBELETS", ""))
        self.room = Room(self.site, self.paths, Nspawn(self.site, self.paths), say)

    def run(self) -> int:
        """Run the verb of the command line, alone if it changes the lab."""
        verb = getattr(self, self.options.verb.replace("-", "_"))
        if not self.options.changes:
            return verb()
        if os.geteuid() != 0:
            raise LabError(checks.NOT_ROOT)
        with lock.only_one(self.paths.lock, self.options.verb, say):
            return verb()

    def up(self) -> int:
        """Boot hosts and switches."""
        chosen = self.site.select(self.options.names, self.options.kind)
        self._refuse(chosen.hosts)
        return 0 if self.room.up(chosen, self._image) else 1

    def reset(self) -> int:
        """Give hosts and switches a fresh start."""
        chosen = self.site.select(self.options.names)
        self._refuse(())
        return 0 if self.room.reset(chosen, self._image) else 1

    def power_cut(self) -> int:
        """Cut the power of hosts and switches."""
        self.room.cut(self.site.select(self.options.names))
        return 0

    def down(self) -> int:
        """End the lab."""
        self.room.down()
        return 0

    def status(self) -> int:
        """Tell what runs; exit code 1 when nothing does."""
        print("\n".join(status.report(self.site, self.paths, self.room.backend)))
        return 0 if self.room.backend.alive() else 1

    def ssh(self) -> int:
        """Become ssh(1) to a host or switch."""
        self.site.select([self.options.name])
        self.room.must_run()
        os.execvp("ssh", ["ssh", "-F", str(self.paths.ssh_config), self.options.name, *self.options.command])

    def env(self) -> int:
        """Print what a shell should export."""
        print("\n".join(status.exports(self.paths)))
        return 0

    def fault(self) -> int:
        """Arm or clear faults of emulated devices."""
        chosen = self.options
        if chosen.clear:
            say(f"{switchboard.clear(self.paths)} devices had faults")
            return 0
        if not (chosen.name and chosen.tool and chosen.effect):
            raise LabError(
                "a fault takes a host, a tool and an effect: lab fault gpu01 mlnx_qos lie, or lab fault --clear"
            )
        target = switchboard.device(self.site, self.paths, chosen.name, chosen.tool)
        self.room.must_run()
        switchboard.arm(target, chosen.tool, chosen.effect, chosen.match, chosen.times or None)
        return 0

    def plant(self) -> int:
        """Plant hardware faults, or repair all of them."""
        self.room.must_run()
        if self.options.clear:
            plant.clear(self.paths)
        elif self.options.name and self.options.kind:
            plant.plant(self.site, self.paths, self.options.name, self.options.kind, self.options.words)
        else:
            raise LabError("a planted fault takes a host and a kind: lab plant gpu02 slow-cable rail3 60")
        return 0

    def clock(self) -> int:
        """Move the emulators' clock."""
        self.room.must_run()
        say(f"the emulators' clock is {switchboard.move_clock(self.paths, self.options.step):g} s ahead")
        return 0

    def administrator(self) -> int:
        """Apply what only the cluster's administrator may."""
        self.room.must_run()
        control = next(host.name for host in self.site.hosts.values() if host.kind.control_plane)
        for kind, content in installer.handed(self.options.files):
            place = f"umask 077; cat > /etc/lab/{kind}.yml; systemctl restart lab-administrator@{kind}.service"
            command = ["ssh", "-F", str(self.paths.ssh_config), control, place]
            if subprocess.run(command, input=content, text=True, check=False).returncode:
                return 1
        return 0

    def build(self) -> int:
        """Build image, tools and pod images into the cache."""
        self._refuse(())
        image = self._image()
        tools.ensure(self.paths.cache, say)
        definitions.ensure(self.paths.cache, say, definitions.ALL)
        images.ensure(self.paths.cache, image.tree)
        return 0

    def requirements(self) -> int:
        """Tell or install the machine's missing packages; exit code 1 when some are missing still."""
        missing = requirements.missing(build_image=True, vms=self._vms())
        if self.options.install:
            self._require(missing)
            missing = requirements.missing(build_image=True, vms=self._vms())
        say(f"missing: {requirements.apt_line(missing)}" if missing else "nothing is missing")
        return 1 if missing else 0

    def _require(self, missing: Sequence[str]) -> None:
        if os.geteuid() != 0:
            raise LabError("packages and limits of the machine belong to root: run it with sudo")
        if missing:
            requirements.install(missing)
        if requirements.raise_inotify():
            say(f"{requirements.INOTIFY} is {requirements.INOTIFY_WANTED} until the machine's next boot")

    def _vms(self) -> bool:
        return any(host.kind.vm for host in self.site.hosts.values())

    def _image(self) -> build.Image:
        return build.ensure(self.paths.cache, say)

    def _refuse(self, hosts: Sequence[Host]) -> None:
        """Say everything that keeps the lab from starting, before anything is started."""
        alive = self.room.backend.alive()
        vms = self._vms()
        built = build.cached(self.paths.cache) is not None and (not vms or kernel.cached(self.paths.cache) is not None)
        facts = machine.look(self.paths, built, alive, vms)
        starting = tuple(host for host in hosts if not (alive and self.room.backend.running(host)))
        if sentences := checks.refusals(facts, checks.Plan(self.paths, starting)):
            raise LabError("\nlab: ".join(sentences))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; one sentence and exit code 1 when it can't be done."""
    chosen = options.parser().parse_args(argv)
    try:
        return Command(chosen).run()
    except LabError as error:
        say(f"lab: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())

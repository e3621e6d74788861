# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine room of one lab: hosts and switches come and go here, whatever back end boots them."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.hosts import provision, wait
from lab.hosts.backend import Backend
from lab.hosts.paths import Paths
from lab.hosts.provision import Bind, Context
from lab.hosts.site import Host, Site
from lab.image.build import Image

Say = Callable[[str], None]
BOOT_SECONDS = 120


class Room:
    """Boots, resets and ends hosts; says what it does, with seconds since its start."""

    def __init__(self, site: Site, paths: Paths, backend: Backend, say: Say) -> None:
        """Nothing is touched yet."""
        self.site = site
        self.paths = paths
        self.backend = backend
        self._say = say
        self._started = time.monotonic()

    def say(self, line: str) -> None:
        """Print one line with the seconds since this command began."""
        self._say(f"{time.monotonic() - self._started:5.1f} s  {line}")

    def up(self, hosts: Sequence[Host], image: Image) -> bool:
        """Boot the hosts that aren't running; True when all of them came up."""
        self.backend.open()
        provision.prepare(self.site, self.paths)
        missing = [host for host in hosts if not self.backend.running(host)]
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda host: self._boot(host, image), missing))
            self.say(f"{len(missing)} hosts are booting: {' '.join(host.name for host in missing) or '-'}")
            return all(pool.map(self._await, missing))

    def reset(self, hosts: Iterable[Host], image: Image) -> bool:
        """Give hosts a fresh disk and boot them; name, address and keys stay."""
        chosen = list(hosts)
        self.backend.open()
        for host in chosen:
            self.backend.cut(host)
            shutil.rmtree(self.paths.host(host.name).directory, ignore_errors=True)
        return self.up(chosen, image)

    def cut(self, hosts: Iterable[Host]) -> None:
        """Cut the power of hosts; `up` boots them again from the disks that they had."""
        for host in hosts:
            self.backend.cut(host)
            self.say(f"{host.name} has no power")

    def down(self) -> None:
        """End the lab and remove everything that it wrote outside the cache."""
        self.backend.close()
        if self.paths.state.exists():
            shutil.rmtree(self.paths.state)
        self.say("nothing of the lab is left")

    def _boot(self, host: Host, image: Image) -> None:
        installed = self.paths.host(host.name).installed
        if not installed.exists():
            self._install(host, image)
        record = json.loads(installed.read_text())
        binds = [Bind(Path(bind["source"]), bind["target"], bind["writable"]) for bind in record["binds"]]
        self.backend.boot(host, Path(record["tree"]), binds)

    def _install(self, host: Host, image: Image) -> None:
        """Write the disk from nothing; only a disk that was written to its end gets its mark."""
        places = self.paths.host(host.name)
        for leftover in (places.disk, places.work):
            if leftover.exists():
                shutil.rmtree(leftover)
        places.disk.mkdir(parents=True)
        controllers = self.backend.controllers()
        context = Context(self.site, host, self.paths, places.disk, image.tree, controllers)
        provision.install(context)
        binds = [{"source": str(b.source), "target": b.target, "writable": b.writable} for b in context.binds]
        partial = places.installed.with_suffix(".partial")
        partial.write_text(json.dumps({"tree": str(image.tree), "binds": binds}))
        partial.rename(places.installed)

    def _await(self, host: Host) -> bool:
        """Wait for the SSH banner and the end of the boot; a failed unit is told, but isn't the lab's failure."""
        if not wait.banner(self.site.ip(host.address), BOOT_SECONDS, lambda: self.backend.running(host)):
            self.say(f"{host.name} does not answer SSH: see {self.paths.host(host.name).console}")
            return False
        state = self.backend.systemd_state(host, wait=True)
        self.say(f"{host.name} {state}")
        return state in {"running", "degraded"}

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine room of one lab: hosts and switches come and go here, whatever back end boots them."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.errors import LabError
from lab.hosts import keys, provision, switches, vm, wait
from lab.hosts.backend import Backend
from lab.hosts.paths import Paths
from lab.hosts.provision import Bind, Context
from lab.hosts.site import Host, Selection, Site, Switch
from lab.image.build import Image

Say = Callable[[str], None]
BOOT_SECONDS = 600
AT_ONCE = 16


class Room:
    """Boots, resets and ends hosts and switches; says what it does, with the seconds since its start."""

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

    def up(self, chosen: Selection, image: Callable[[], Image]) -> bool:
        """Boot what isn't running; True when all of it came up. A lab that couldn't be started at all is removed."""
        fresh = not self.backend.alive()
        try:
            self.backend.open()
            built = image()
            provision.prepare(self.site, self.paths)
            return self._boot_all(chosen, built)
        except BaseException:
            if fresh:
                self.down()
            raise

    def _boot_all(self, chosen: Selection, image: Image) -> bool:
        hosts = [host for host in chosen.hosts if not self.backend.running(host)]
        off = [switch for switch in chosen.switches if not self.backend.serving(switch)]
        for switch in off:
            self.backend.serve(switch, switches.prepare(self.site, switch, self.paths))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda host: self._boot(host, image), hosts))
            self.say(f"{len(hosts)} hosts and {len(off)} switches are booting")
            # Also those that ran before: the command that started them may have been cut short.
            answers = [*pool.map(self._await_host, chosen.hosts), *pool.map(self._await_switch, chosen.switches)]
        self.say(f"{answers.count(True)} of {len(answers)} are up")
        return all(answers)

    def reset(self, chosen: Selection, image: Callable[[], Image]) -> bool:
        """Give hosts a fresh disk, and switches their factory state, and boot them; names, addresses and keys stay."""
        self.must_run()
        self.backend.open()
        for host in chosen.hosts:
            self._cut(host)
            shutil.rmtree(self.paths.host(host.name).directory, ignore_errors=True)
        for switch in chosen.switches:
            self.backend.unplug(switch)
            shutil.rmtree(self.paths.switch(switch.name), ignore_errors=True)
        return self.up(chosen, image)

    def cut(self, chosen: Selection) -> None:
        """Cut the power; `up` boots hosts again from the disks, and switches from the state, that they had."""
        self.must_run()
        self.backend.open()
        for host in chosen.hosts:
            self._cut(host)
            self.say(f"{host.name} has no power")
        for switch in chosen.switches:
            self.backend.unplug(switch)
            self.say(f"{switch.name} has no power")

    def down(self) -> None:
        """End the lab and remove everything that it wrote outside the cache."""
        self.backend.close()
        keys.hang_up(self.paths, "*")
        if self.paths.state.exists():
            shutil.rmtree(self.paths.state)
        self.paths.lock.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.paths.base.rmdir()
        self.say(f"lab {self.paths.lab_id} is gone")

    def must_run(self) -> None:
        """LabError unless the lab runs: a change to a stopped lab would be in the next one's way."""
        if not self.backend.alive():
            raise LabError(f"lab {self.paths.lab_id} is not running: run lab up first")

    def _cut(self, host: Host) -> None:
        self.backend.cut(host)
        self._powerless(host).parent.mkdir(parents=True, exist_ok=True)
        self._powerless(host).touch()
        keys.hang_up(self.paths, host.name, self.site.ip(host.address))

    def _boot(self, host: Host, image: Image) -> None:
        installed = self.paths.host(host.name).installed
        if not installed.exists():
            self._install(host, image)
        record = json.loads(installed.read_text())
        binds = [Bind(Path(bind["source"]), bind["target"], bind["writable"]) for bind in record["binds"]]
        self._powerless(host).unlink(missing_ok=True)
        self.backend.boot(host, Path(record["tree"]), binds)

    def _powerless(self, host: Host) -> Path:
        """A file that the emulated cluster reads: members notice that a host is gone."""
        return self.paths.shared / "powerless" / host.name

    def _install(self, host: Host, image: Image) -> None:
        """Write the disk from nothing; only a disk that was written to its end gets its mark."""
        places = self.paths.host(host.name)
        self.backend.cut(host)
        for leftover in (places.disk, places.work):
            if leftover.exists():
                shutil.rmtree(leftover)
        places.volume.unlink(missing_ok=True)
        places.disk.mkdir(parents=True)
        context = Context(self.site, host, self.paths, places.disk, image.tree, self.backend.controllers())
        provision.install(context)
        binds = [{"source": str(b.source), "target": b.target, "writable": b.writable} for b in context.binds]
        partial = places.installed.with_suffix(".partial")
        partial.write_text(json.dumps({"tree": str(image.tree), "binds": binds}))
        partial.rename(places.installed)

    def _await_host(self, host: Host) -> bool:
        """Wait for the SSH banner and the end of the boot; print a failed unit, which isn't the lab's failure."""
        seconds = vm.BOOT_SECONDS if host.kind.vm else BOOT_SECONDS
        if not wait.banner(self.site.ip(host.address), seconds, lambda: self.backend.running(host)):
            self.say(f"{host.name} does not answer SSH: see {self.paths.host(host.name).console}")
            return False
        state = self.backend.systemd_state(host, wait=True)
        self.say(f"{host.name} {state}" + (f": see lab ssh {host.name} systemctl --failed" * (state == "degraded")))
        return state in {"running", "degraded"}

    def _await_switch(self, switch: Switch) -> bool:
        answers = wait.banner(self.site.ip(switch.address), BOOT_SECONDS, lambda: self.backend.serving(switch))
        log = self.paths.switch(switch.name) / "console.log"
        self.say(f"{switch.name} serves" if answers else f"{switch.name} does not answer SSH: see {log}")
        return answers

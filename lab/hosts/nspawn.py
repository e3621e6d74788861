# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts as systemd-nspawn containers: a real systemd each, an overlay of one shared tree, cables of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts import cgroups, namespace, network, store, vm
from lab.hosts.cgroups import Group
from lab.hosts.paths import REPOSITORY, Paths
from lab.hosts.provision import Bind
from lab.hosts.site import Host, Site, Switch

# A unit without its configuration may take systemd's whole start timeout of 90 s, on a machine with much else to do.
BOOT_SECONDS = 600
# A guest that reboots ends nspawn with 133 (RestartForceExitStatus of systemd-nspawn@.service): start it again.
LOOP = 'box=$1; shift; while :; do (echo 0 > "$box"; exec "$@"); status=$?; [ $status = 133 ] || exit $status; done'


def argv(site: Site, host: Host, paths: Paths, binds: Sequence[Bind]) -> list[str]:
    """The command that boots one host.

    The command starts inside the host's network namespace. With --network-namespace-path, nspawn would show the
    machine's own NICs in /sys and a read-only /proc/sys/net. A host that runs containers needs all capabilities and the
    kernel's keyrings; none may set the machine's clock.
    """
    containers = ["--capability=all", "--drop-capability=CAP_SYS_TIME,CAP_SYS_MODULE"]
    containers += ["--system-call-filter=@keyring", "--system-call-filter=bpf"]
    return [
        *("nsenter", f"--net=/run/netns/{host.name}", "systemd-nspawn", "--quiet", "--boot"),
        *(f"--directory={paths.host(host.name).root}", f"--machine={host.name}", f"--hostname={host.name}"),
        *(f"--uuid={site.machine_id(host.name)}", "--register=no", "--keep-unit", "--console=pipe"),
        *("--link-journal=no", "--resolv-conf=off", "--timezone=off"),
        *(containers if host.kind.kubelet else ["--capability=CAP_NET_ADMIN"]),
        *(f"--bind{'' if bind.writable else '-ro'}={bind.source}:{bind.target}" for bind in binds),
    ]


class Nspawn:
    """The back end for root on Linux."""

    def __init__(self, site: Site, paths: Paths) -> None:
        """Nothing is touched before `open`."""
        self._site = site
        self._paths = paths
        self._home: Path | None = None

    def _group(self, *names: str) -> Group:
        return Group(self._paths.cgroup.joinpath(*names))

    def alive(self) -> bool:
        """Whether `open` was called since the last `close`, by whatever process."""
        return namespace.keeper(self._group()) is not None

    def open(self) -> None:
        """Make the namespace and the bridges, and move this process (single-threaded still) into the lab.

        It goes into the lab's control group as well, so that `close` ends what it started even if it was killed itself.
        """
        if self._home is not None:
            return
        self._home = cgroups.own(Path("/proc/self/cgroup").read_text())
        fresh = not self.alive()
        namespace.enter(namespace.ensure(self._group().create()))
        self._group("command").create().enter()
        network.ensure_bridges(self._site, self._paths)
        store.ensure(self._group("store"), self._paths, fresh)

    def controllers(self) -> frozenset[str]:
        """cgroup2 controllers that guests can have."""
        return cgroups.controllers(self._group().root)

    def boot(self, host: Host, tree: Path, binds: Sequence[Bind]) -> None:
        """Plug in the cables and start the host's systemd; returns at once. Whatever ran there before is ended."""
        self.cut(host)
        places = self._paths.host(host.name)
        for directory in (places.disk, places.work, places.root):
            directory.mkdir(parents=True, exist_ok=True)
        network.connect(self._site, host, self._paths)
        lower = vm.lower_layers(tree, self._paths) if host.kind.vm else str(tree)
        layers = f"lowerdir={lower},upperdir={places.disk},workdir={places.work}"
        _run("mount", "-t", "overlay", host.name, "-o", layers, str(places.root))
        box = self._group("hosts", host.name, "box").create()
        if host.kind.vm:
            vm.show(binds, places.root)
            box.start(vm.argv(self._site, host, self._paths, binds), vm.environment(), places.console)
            return
        wrap = self._group("hosts", host.name, "wrap").create()
        loop = ["sh", "-c", LOOP, "lab", str(box.procs), *argv(self._site, host, self._paths, binds)]
        environment = {"PATH": os.environ["PATH"], "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
        wrap.start(loop, environment, places.console)

    def cut(self, host: Host) -> None:
        """End every process of the host at once, as a power cut does, and unplug it; the disk stays."""
        self._group("hosts", host.name).end()
        # From systemd 256 on a killed nspawn leaves its export directory mounted, and the next one refuses to start.
        for place in (self._paths.host(host.name).root, Path("/run/systemd/nspawn/unix-export") / host.name):
            if any(line.split()[4] == str(place) for line in Path("/proc/self/mountinfo").read_text().splitlines()):
                _run("umount", "--lazy", str(place))
        network.disconnect(host, self._paths)

    def running(self, host: Host) -> bool:
        """Whether any process of the host lives."""
        return self._group("hosts", host.name).populated()

    def init_pid(self, host: Host) -> int | None:
        """The machine's process id of the host's systemd."""
        return next(iter(self._group("hosts", host.name, "box", "payload", "init.scope").pids()), None)

    def systemd_state(self, host: Host, wait: bool = False) -> str:
        """What `systemctl is-system-running` says in the host, "off" or "unknown"; at the boot's end if asked."""
        if host.kind.vm and self.running(host):
            return vm.systemd_state(host, self._paths, wait, vm.BOOT_SECONDS if wait else 5)
        pid = self.init_pid(host)
        if pid is None:
            return "unknown" if self.running(host) else "off"
        command = [
            "nsenter",
            f"--target={pid}",
            "--all",
            "systemctl",
            "is-system-running",
            *(["--wait"] if wait else []),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=BOOT_SECONDS if wait else 5
            )
        except subprocess.TimeoutExpired:
            return "starting"
        return done.stdout.strip() or "unknown"

    def serve(self, switch: Switch, command: Sequence[str]) -> None:
        """Plug in the switch and start the process that is it, on its own address, unless it runs."""
        if self.serving(switch):
            return
        network.connect(self._site, switch, self._paths)
        directory = self._paths.switch(switch.name)
        directory.mkdir(parents=True, exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
        inside = ["nsenter", f"--net=/run/netns/{switch.name}", *command]
        self._group("switches", switch.name).create().start(inside, environment, directory / "console.log")

    def serving(self, switch: Switch) -> bool:
        """Whether the switch's process lives."""
        return self._group("switches", switch.name).populated()

    def unplug(self, switch: Switch) -> None:
        """End the switch's process and unplug it; its state stays."""
        self._group("switches", switch.name).end()
        network.disconnect(switch, self._paths)

    def close(self) -> None:
        """End everything of this lab, however it was started or left, and remove it from the machine."""
        if self._home is not None:
            Group(self._home).enter()
        self._group().end()
        if self._home is not None:
            store.leave(self._paths)
        with contextlib.suppress(OSError):
            self._group().path.parent.rmdir()
        network.remove_all(self._paths.lab_id)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)} said {done.stderr.strip()}: run lab down, then lab up")

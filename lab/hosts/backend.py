# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the lab asks of whatever boots its hosts; systemd-nspawn today, rootless podman can follow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lab.hosts.provision import Bind
from lab.hosts.site import Host, Switch


class Backend(Protocol):
    """Boots hosts from an installed disk over a shared, read-only tree."""

    def alive(self) -> bool:
        """Whether `open` was called since the last `close`, by whatever process."""
        ...

    def open(self) -> None:
        """Make what all hosts need (bridges, namespaces); idempotent. `close` also ends what this process starts."""
        ...

    def controllers(self) -> frozenset[str]:
        """cgroup2 controllers that guests can have."""
        ...

    def boot(self, host: Host, tree: Path, binds: Sequence[Bind]) -> None:
        """Plug in the cables and start the host's systemd; returns at once. Whatever ran there before is ended."""
        ...

    def cut(self, host: Host) -> None:
        """End every process of the host at once, as a power cut does, and unplug it; the disk stays."""
        ...

    def running(self, host: Host) -> bool:
        """Whether any process of the host lives."""
        ...

    def systemd_state(self, host: Host, wait: bool = False) -> str:
        """What `systemctl is-system-running` says in the host, "off" or "unknown"; at the boot's end if asked."""
        ...

    def serve(self, switch: Switch, command: Sequence[str]) -> None:
        """Plug in the switch and start the process that is it, on its own address, unless it runs."""
        ...

    def serving(self, switch: Switch) -> bool:
        """Whether the switch's process lives."""
        ...

    def unplug(self, switch: Switch) -> None:
        """End the switch's process and unplug it; its state stays."""
        ...

    def close(self) -> None:
        """End everything of this lab, however it was started or left, and remove it from the machine."""
        ...

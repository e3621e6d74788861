# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated switch is one process that serves SSH on the switch's own address on the bridge."""

from __future__ import annotations

import sys

from lab.hosts.paths import Paths
from lab.hosts.site import Site, Switch


def command(site: Site, switch: Switch, paths: Paths) -> list[str]:
    """The process for one switch: each platform is a package of lab.emulators that runs as a program."""
    return [
        *(sys.executable, "-m", f"lab.emulators.{switch.platform}", "--name", switch.name),
        *("--listen", f"{site.ip(switch.address)}:22", "--directory", str(paths.switch(switch.name))),
        *("--clock", str(paths.clock), "--host-key", str(paths.host_key(switch.name))),
        *("--authorized-key", f"{paths.user_key}.pub"),
    ]

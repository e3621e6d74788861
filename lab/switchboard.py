# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person or a test does to emulated devices: arm faults, and move the clock that all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lab.emulators.common import EFFECTS, FAMILIES, Device, family
from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Site


def device(site: Site, paths: Paths, name: str, tool: str) -> Device:
    """The device that a tool of a host, or a switch, works on; LabError when there is no such thing."""
    if name in site.switches:
        return Device(paths.switch(name), paths.clock)
    site.select([name])
    folder = family(tool)
    if folder is None:
        raise LabError(f"{tool} is no emulated tool of a host: use one of mm*, {', '.join(FAMILIES)}")
    return Device(paths.host(name).emulators / folder, paths.clock)


def arm(target: Device, tool: str, effect: str, match: str, times: int | None) -> None:
    """Let the next `times` calls (None: all) of the tool whose line has `match` end in `effect`."""
    if effect not in EFFECTS:
        raise LabError(f"{effect} is no effect that a fault can have: use one of {', '.join(EFFECTS)}")
    target.add_fault(tool, effect, match, times)


def clear(paths: Paths) -> int:
    """Disarm all faults of all devices; returns how many devices had some."""
    armed = [file for file in _fault_files(paths) if file.read_text().strip() not in {"", "[]"}]
    for file in armed:
        Device(file.parent, paths.clock).clear_faults()
    return len(armed)


def _fault_files(paths: Paths) -> Iterator[Path]:
    yield from paths.state.glob("hosts/*/emu/*/faults.json")
    yield from paths.state.glob("switches/*/faults.json")


def move_clock(paths: Paths, argument: str) -> float:
    """Move the emulators' clock by `+SECONDS` or set it right by `reset`; returns how far it is ahead now."""
    try:
        now = float(paths.clock.read_text()) if paths.clock.exists() else 0.0
        ahead = 0.0 if argument == "reset" else now + float(argument)
    except ValueError:
        raise LabError(f"{argument} is no step of a clock: use +SECONDS, such as +600, or reset") from None
    partial = paths.clock.with_name(".clock")
    partial.write_text(f"{ahead}\n")
    partial.chmod(0o644)
    partial.replace(paths.clock)
    return ahead

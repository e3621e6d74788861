# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Flags for the node_exporter that the site has on a host. A host without one gets a warning, and no failure.

node_exporter refuses to start with a flag that its release lacks, and with most flags that stand twice. So a starter
goes before the site's command. It leaves out such flags at each start, also after the site has changed its own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.command import Command
from ..core.converge import DeviceError, Settle, Step
from ..core.daemon.plan import DaemonState, plan
from ..core.file_entry import FILES_ARGUMENT, Entry, entries
from ..core.layer import Layer, Params, Work, records
from ..core.placed.text import FILE, Item, items
from ..core.reading import reading
from .node_exporter_io import NodeExporter

STARTER = "/usr/local/libexec/drawbridge/node-exporter"
FLAGS = f"{STARTER}.flags"
NAME = "zz-drawbridge.conf"
"""systemd reads drop-ins in the order of names: this one follows override.conf, which `systemctl edit` makes."""
DROP_IN = """\
# Written by Drawbridge's role telemetry, which overwrites changes.
[Service]
ExecStartPre=+/bin/mkdir -p -m 0755 {above} {folder}
ExecStart=
ExecStart={command}
"""
COMMAND = re.compile(r"([-:+!]*)((/\S+).*)")
RELEASE = re.compile(r"^node_exporter, version (\d+)\.(\d+)\.", re.MULTILINE)
ROCE = 1011
"""Release 1.11: the first with counters of RoCE (hw_counters)."""
SPEC: dict[str, Any] = {
    "unit": {"type": "str", "default": "prometheus-node-exporter.service"},
    "folder": {"type": "path", "default": "/run/drawbridge/metrics"},
    "flags": records(
        required=False,
        least={"type": "int", "default": 0},
        below={"type": "int", "default": 100000},
        own={"type": "str", "required": True},
        flags={"type": "list", "elements": "str", "required": True},
    ),
    "files": FILES_ARGUMENT,
}


def work(params: Params, check: bool) -> Work[Any]:
    """The drop-in, the starter and its flags. A unit that the site has stopped is not started."""
    run, unit, flags, files = Command(60.0), params["unit"], params["flags"], entries(params["files"])[0]
    if STARTER not in files:
        raise DeviceError(f"files lacks {STARTER}, a file of the role: without it, {unit} would not start")
    site = commands(run(["systemctl", "cat", unit], ok=(0, 1)).out)
    program = (COMMAND.fullmatch(site[0]) if len(site) == 1 else None) or [""] * 4
    release = _release(run, program[3])
    if not release:
        why = f"runs {'; '.join(site)}, which is no node_exporter with a release" if site else "is not on this host"
        return reading(unit, lambda: {"warnings": [f"{unit} {why}: install node_exporter, or name its unit"]})
    drop = {place(unit): Entry(drop_in(site[0], params["folder"]))}
    want = DaemonState(unit, {FLAGS: Entry(lines(flags)), **files, **drop})
    device, begun_s = NodeExporter(want, run, program[3]), time.time()
    ran: list[bool] = []

    def planned(have: DaemonState, want: DaemonState) -> list[Step[DaemonState]]:
        ran.append(have.active)
        verbs = ("write", "refresh", "start", "restart") if ran[0] else ("write",)
        return [step for step in plan(have, want) if step.payload[0] in verbs]

    def results(steps: Sequence[Step[Any]]) -> Mapping[str, Any]:
        stopped = [] if ran[0] else [f"{unit} does not run: start it"]
        # in check mode, flags that a restart would bring are not missing
        return {"warnings": [*troubles(flags, release, [] if check and steps else device.argv), *stopped]}

    def error_of(error: str) -> str:
        said = device.unit.complaints(begun_s) if error else ""
        return f"{error}; it says: {said}" if said else error

    return Work(device, planned, want, Settle(20.0), results_of=results, error_of=error_of)


def _release(run: Command, program: str) -> int:
    """What its --version says, 1012 for 1.12; 0 for other programs, and for builds without a release."""
    try:
        done = run([program, "--version"]) if program else None
    except DeviceError:
        done = None
    found = RELEASE.search(done.out + done.err) if done else None
    return int(found[1]) * 1000 + int(found[2]) if found else 0


def place(unit: str) -> str:
    """The path of the drop-in."""
    return f"/etc/systemd/system/{unit}.d/{NAME}"


def lines(groups: Sequence[Mapping[str, Any]]) -> str:
    """The flags as the starter reads them."""
    return "".join(f"{it['least']} {it['below']} {it['own']} {' '.join(it['flags'])}\n" for it in groups)


def commands(shown: str) -> list[str]:
    """The site's commands in effect, from `systemctl cat`, without those of Drawbridge's drop-in."""
    found: list[str] = []
    ours = False
    for line in re.sub(r"\\\n\s*", " ", shown).splitlines():
        if line.startswith("# /"):
            ours = line.endswith(f"/{NAME}")
        name, _equals, value = line.partition("=")
        if name.strip() == "ExecStart" and not ours:
            found = [*found, value.strip()] if value.strip() else []
    return found


def drop_in(command: str, folder: str) -> str:
    """The drop-in. It also makes the folder, which a boot empties."""
    started = COMMAND.sub(rf"\1{STARTER} \2", command)
    return DROP_IN.format(above=folder.rpartition("/")[0], folder=folder, command=started)


def troubles(groups: Sequence[Mapping[str, Any]], release: int, argv: Sequence[str]) -> list[str]:
    """What a release lacks, and flags that the program was not given because the site has its own. No argv: unknown."""
    here = f"node_exporter {release // 1000}.{release % 1000}"
    lacks = f"{here} has no counters of RoCE (node_infiniband_np_cnp_packets_sent_total): install 1.11 or later"
    return [lacks] * (release < ROCE) + [
        f"the site's own flags of {it['own']} stand, and {_names(it['flags'])} are left out: remove the site's"
        for it in groups
        if argv and it["least"] <= release < it["below"] and not set(it["flags"]) <= set(argv)
    ]


def _names(flags: Sequence[str]) -> str:
    return ", ".join(flag.partition("=")[0] for flag in flags)


def places(params: Params) -> list[Item]:
    """All three files."""
    return items(FILE, [place(params["unit"]), *(file["path"] for file in params["files"]), FLAGS])


NODE_EXPORTER = Layer(SPEC, work, places=places, viewed=("unit", "folder", "flags"))

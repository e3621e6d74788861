# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the reader of switches costs its host: `PYTHONPATH=collections python -m bench.switch_metrics`, 6 minutes.

64 emulated switches of all six systems, on loopback, with 8 ports each. The program of role telemetry reads them every
60 s. Its start and first interval are not measured. Then one switch of each system with 32 ports is read alone. Writes
bench/measured/switch_metrics.md. Ends with 1 if a switch missed an interval.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import ports as port_lists
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import (
    Cnp,
    Roce,
    SwitchProfile,
    Watchdog,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from bench.counted import ROOT
from bench.results import store
from bench.switch_room import ADDRESS, ASICS
from bench.switches import NAMES

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-switch-metrics.py"
PORTS = {
    "eos": ("Ethernet1-8", "Ethernet1-32"),
    "nvue": ("swp1-8", "swp1-32"),
    "sonic": ("Ethernet0-28:4", "Ethernet0-124:4"),
    "nxos": ("Ethernet1/1-8", "Ethernet1/1-32"),
    "junos": ("et-0/0/0-7", "et-0/0/0-31"),
    "os10": ("ethernet1/1/1-1/1/8", "ethernet1/1/1-1/1/32"),
}
SIZES = (8, 32)
TREE = "ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge"
INTERVAL_S, INTERVALS, PARALLEL, LOOK_S = 60, 3, 4, 2.0
ROOM = """
import asyncio, pathlib, sys
from bench import switch_room
switch_room.PORTS = int(sys.argv[1])
asyncio.run(switch_room.main(sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:]))
"""
ALONE = 5
"""Readings of each switch that is read alone."""
HEADS = (
    "ports of a switch | readings | missed | longest reading, s | CPU seconds an interval | % of one core"
    " | CPU ms a reading | MiB | KiB of the file"
)
KINDS = {"ports": "0f", "readings": "0f", "missed": "0f", "longest": "1f", "cpu": "2f", "percent": "1f"}
KINDS |= {"each": "0f", "mib": "0f", "kib": "0f"}
"""The columns, and how they are written."""
READ_AT = re.compile(r'^drawbridge_switch_read_timestamp_seconds\{switch="(\w+)"\} (\S+)$', re.MULTILINE)
TOOK = re.compile(r"^drawbridge_switch_read_seconds\{.*\} (\S+)$", re.MULTILINE)
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(folder: Path, ports: int, named: Mapping[str, Sequence[str]]) -> Iterator[dict[str, int]]:
    """These switches with so many ports, and the TCP port of each. Their processes end with the block."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ROOM, str(ports), system, str(folder), *names], cwd=ROOT, stdout=subprocess.PIPE
        )
        for system, names in named.items()
    ]
    try:
        found: dict[str, int] = {}
        for process in started:
            assert process.stdout
            found |= json.loads(process.stdout.readline())
        public = " ".join((folder / "host.pub").read_text().split()[:2])
        (folder / "known_hosts").write_text("".join(f"[{ADDRESS}]:{port} {public}\n" for port in found.values()))
        yield found
    finally:
        for process in started:
            process.terminate()
            process.wait()


def placed(folder: Path, addresses: Mapping[str, int], size: int) -> list[str]:
    """The program and its configuration, as the role places them; the command."""
    program, library = folder / "sbin/drawbridge-switch-metrics", folder / "lib/drawbridge-switch-metrics/drawbridge"
    texts = {library / path: text for path, text in imported(PROGRAM.read_text(), source).items()}
    for path, text in {program: PROGRAM.read_text(), **texts}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    switches = {}
    for system, names in NAMES.items():
        known = [name for name in names if name in addresses]
        ports = port_lists.expand(PORTS[system][SIZES.index(size)])
        asic = ASICS.get(system, "xgs")
        profile = SwitchProfile(system, asic, tuple(ports), 9214, Roce(3, 26), Cnp(), Watchdog()).as_dict()
        nodes = {port: [f"gpu{at:04}", str(at % 8)] for at, port in enumerate(ports)}
        switches |= {name: {"profile": profile, "nodes": nodes} for name in known}
    settings = {
        "seconds": INTERVAL_S,
        "parallel": PARALLEL,
        "user": "admin",
        "known_hosts": str(folder / "known_hosts"),
        "key_file": str(folder / "user"),
        "addresses": dict.fromkeys(addresses, ADDRESS),
        "ports": addresses,
        "switches": switches,
    }
    (folder / "place.json").write_text(json.dumps(settings))
    where = ["--place", str(folder / "place.json"), "--metrics", str(folder / "metrics")]
    return [sys.executable, "-I", str(program), "run", *where]


def cpu_s(pid: int) -> float:
    """Processor seconds of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measured() -> dict[str, float]:
    """All switches, read by the program in a process of its own."""
    size = SIZES[0]
    with tempfile.TemporaryDirectory(prefix="metrics") as name, served(Path(name), size, NAMES) as addresses:
        folder, seen, longest, text = Path(name), set[tuple[str, str]](), 0.0, ""
        with subprocess.Popen(placed(folder, addresses, size)) as process:
            time.sleep(1.5 * INTERVAL_S)
            begun, before = time.monotonic(), cpu_s(process.pid)
            while time.monotonic() - begun < INTERVALS * INTERVAL_S:
                time.sleep(LOOK_S)
                text = (folder / "metrics/switches.prom").read_text()
                seen |= set(READ_AT.findall(text))
                longest = max([longest, *map(float, TOOK.findall(text))])
            spent, took = cpu_s(process.pid) - before, time.monotonic() - begun
            status = Path(f"/proc/{process.pid}/status").read_text()
            process.terminate()
        # the first look also saw readings of the interval before
        readings = len(seen) - len(addresses)
    return {
        "ports": size,
        "readings": readings,
        "missed": max(0, len(addresses) * (int(took / INTERVAL_S) - 1) - readings),
        "longest": longest,
        "cpu": spent * INTERVAL_S / took,
        "percent": 100 * spent / took,
        "each": 1000 * spent / max(1, readings),
        "mib": int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024,
        "kib": len(text) / 1024,
    }


def alone() -> dict[str, tuple[float, float]]:
    """Seconds by the clock and of processors that a reading of one switch takes, by system; medians."""
    program, size = ModuleType("program"), SIZES[1]
    vars(program)["__file__"], sys.modules["program"] = str(PROGRAM), program
    exec(compile(PROGRAM.read_text().replace("from drawbridge.", f"from {TREE}."), PROGRAM, "exec"), vars(program))
    named = {system: names[:1] for system, names in NAMES.items()}
    found: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory(prefix="metrics") as name, served(Path(name), size, named) as addresses:
        placed(Path(name), addresses, size)
        settings = program.settings_of((Path(name) / "place.json").read_text())
        read = program.reading(settings, program.refused_by_netmiko())
        for system, [switch] in named.items():
            costs = []
            for _turn in range(ALONE):
                begun, before = time.monotonic(), time.process_time()
                assert not program.one_reading(switch, read).why_none
                costs.append((time.monotonic() - begun, time.process_time() - before))
            found[system] = (median(it[0] for it in costs), median(it[1] for it in costs))
    return found


def page(row: dict[str, float], single: Mapping[str, tuple[float, float]]) -> str:
    """The tables as Markdown."""
    lines = [
        "# The reader of switches",
        "",
        f"Made by `python -m bench.switch_metrics`. {sum(map(len, NAMES.values()))} emulated switches of six systems,",
        f"each read every {INTERVAL_S} s, at most {PARALLEL} at a time; {INTERVALS} intervals.",
        f"Switches and reader share {os.cpu_count()} processors. The load average was {os.getloadavg()[0]:.1f}.",
        "",
        f"| {HEADS} |",
        "|" + "---|" * len(HEADS.split("|")),
        f"| {' | '.join(f'{row[key]:.{kind}}' for key, kind in KINDS.items())} |",
        "",
        f"One switch with {SIZES[1]} ports, read alone. OS10 and NVUE show some counters of one port at a time.",
        "",
        "| system | seconds of a reading | CPU ms |",
        "|---|---|---|",
        *(f"| {system} | {wall:.1f} | {1000 * cpu:.0f} |" for system, (wall, cpu) in single.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure and store."""
    row, single = measured(), alone()
    store("switch_metrics", {"all": row, "alone": single}, page(row, single))
    return int(bool(row["missed"]))


if __name__ == "__main__":
    sys.exit(main())

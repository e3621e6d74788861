# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What 64 switches that need nothing cost: `PYTHONPATH=collections python -m bench.switches`, 10 minutes, no lab.

Emulated switches of all six systems, 8 ports each, on loopback. The first run configures them. Then three kinds of work
take turns: (1) The play of fabric.yml at 16 forks, which must change nothing. (2) Bare netmiko logins with the same
reads, 16 at a time. (3) A play that contacts no switch. Writes bench/measured/switches.md. Ends with 1 above a goal.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import (
    Cnp,
    Roce,
    SwitchProfile,
    Watchdog,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import dialect

from bench.budgets import goal
from bench.counted import ROOT
from bench.nodes import timed
from bench.results import store
from bench.sixteen import ANSIBLE
from bench.switch_room import ADDRESS, ASICS

COUNTS = {"eos": 11, "nvue": 11, "sonic": 11, "nxos": 11, "junos": 10, "os10": 10}
PORTS = {
    "eos": "Ethernet1-8",
    "nvue": "swp1-8",
    "sonic": "Ethernet0-28:4",
    "nxos": "Ethernet1/1-8",
    "junos": "et-0/0/0-7",
    "os10": "ethernet1/1/1-1/1/8",
}
ROUNDS, FORKS = 3, 16
PLAY = "playbooks/parts/fabric_round.yml"
RUN, BARE, IDLE = "fabric.yml's play", "bare netmiko logins", "a play with one debug task"
CPU, RATIO = "64 switches, CPU seconds of the controller", "64 switches, times bare logins by the clock"
NAMES = {system: [f"{system}{number:02}" for number in range(1, count + 1)] for system, count in COUNTS.items()}


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock and of processors, and the memory of all processes at its highest."""

    wall: float
    cpu: float
    megabytes: float


@contextlib.contextmanager
def served(folder: Path) -> Iterator[dict[str, int]]:
    """All switches, and the port of each. Their processes end with the block, and are not counted until then."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.switch_room", system, str(folder), *names], cwd=ROOT, stdout=subprocess.PIPE
        )
        for system, names in NAMES.items()
    ]
    try:
        ports: dict[str, int] = {}
        for process in started:
            assert process.stdout
            ports |= json.loads(process.stdout.readline())
        public = " ".join((folder / "host.pub").read_text().split()[:2])
        known = (f"[{ADDRESS}]:{port} {public}\n" for port in ports.values())
        (folder / "known_hosts").write_text("".join(known))
        yield ports
    finally:
        for process in started:
            process.terminate()
            process.wait()


def inventory(folder: Path, ports: Mapping[str, int]) -> Path:
    """The lab's intent with these switches."""
    place = folder / "inventory"
    shutil.copytree(ROOT / "inventories/lab/group_vars/all", place / "group_vars/all")
    fabric = yaml.safe_load((place / "group_vars/all/fabric.yml").read_text())
    fabric["drawbridge_fabric"].pop("cabling", None)
    fabric["drawbridge_fabric"]["switches"] = [
        {"names": ",".join(names), "tier": "leaf", "platform": it, "asic": ASICS.get(it, "xgs"), "ports": PORTS[it]}
        for it, names in NAMES.items()
    ]
    (place / "group_vars/all/fabric.yml").write_text(yaml.safe_dump(fabric))
    common = f"-o UserKnownHostsFile={folder / 'known_hosts'}"
    shared = {"ansible_host": ADDRESS, "ansible_user": "admin", "ansible_ssh_common_args": common}
    shared["ansible_ssh_private_key_file"] = str(folder / "user")
    hosts = {name: {"ansible_port": port} for name, port in ports.items()}
    children = {"controllers": {"hosts": {"ctl": None}}, "switches": {"hosts": hosts, "vars": shared}}
    (place / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": children}}))
    return place


def logins(folder: Path, ports: Mapping[str, int]) -> Path:
    """What bare logins need to know, as JSON; netmiko's arguments are those of Drawbridge's sessions."""
    found: list[dict[str, Any]] = []
    for system, names in NAMES.items():
        known = dialect(system)
        plain = SwitchProfile(system, ASICS.get(system, "xgs"), (), 9216, Roce(3, 26), Cnp(), Watchdog())
        newest = known.releases.newest
        reads = [known.releases.line, *known.reads, *known.more_reads(plain, newest)]
        for name in names:
            login = {"device_type": known.device_type, "host": ADDRESS, "port": ports[name], "username": "admin"}
            login |= {"use_keys": True, "key_file": str(folder / "user"), "allow_agent": False, "ssh_strict": True}
            login |= {"alt_host_keys": True, "alt_key_file": str(folder / "known_hosts"), "conn_timeout": 60}
            login |= {"banner_timeout": 60, "auth_timeout": 60}
            found.append({"login": login, "reads": reads, "enables": known.enables})
    path = folder / "logins.json"
    path.write_text(json.dumps(found))
    return path


def _megabytes(root: int) -> float:
    """Memory of a process and all below it; what several processes share is divided among them."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = {root}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    total = 0
    for process in family:
        with contextlib.suppress(OSError, IndexError):
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += int(re.findall(r"^Pss: +(\d+)", text, re.MULTILINE)[0])
    return total / 1024


def spent(*argv: str) -> tuple[Cost, str]:
    """What a command costs, and its output. Leaves with it if the command fails."""
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1", "LAB_ID": "1"}
    peak, output = 0.0, ""

    def work() -> None:
        nonlocal peak, output
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(argv, cwd=ROOT, env=env, start_new_session=True, **pipes)
        assert process.stdout
        reader = threading.Thread(target=lambda: texts.append(process.stdout.read() if process.stdout else ""))
        reader.start()
        while process.poll() is None:
            peak = max(peak, _megabytes(process.pid))
            time.sleep(0.5)
        reader.join()
        output = "".join(texts)
        if process.returncode:
            sys.exit(f"{output[-6000:]}{' '.join(argv[:6])} failed")

    texts: list[str] = []
    taken = timed(work)
    return Cost(taken.wall, taken.cpu, peak), output


def played(place: Path, *words: str) -> tuple[Cost, str]:
    """One run of the play on all switches."""
    return spent(ANSIBLE, "-i", str(place), "--forks", str(FORKS), PLAY, *words)


def converged(place: Path) -> Cost:
    """A run that must change nothing."""
    cost, output = played(place)
    if re.search(r"changed=[1-9]", output):
        sys.exit(f"{output[-6000:]}this run changed something")
    return cost


def page(costs: Mapping[str, Cost], ratios: Mapping[str, float], load: float) -> str:
    """The table as Markdown."""
    rows = [f"| {name} | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.megabytes:.0f} |" for name, cost in costs.items()]
    lines = [
        "# Switches",
        "",
        f"Made by `python -m bench.switches`, median of {ROUNDS} rounds. {sum(COUNTS.values())} emulated switches",
        f"of six systems, {FORKS} at a time;",
        f"switches and controller share {os.cpu_count()} processors. The load average was {load:.1f}.",
        "",
        "| nothing to do | seconds by the clock | CPU seconds of the controller | megabytes at the highest |",
        "|---|---|---|---|",
        *rows,
        "",
        f"The run takes {ratios['wall']:.2f} times the bare logins by the clock, and {ratios['cpu']:.2f} times their"
        " processor time.",
        f"At most {goal(RATIO):g} by the clock, and {goal(CPU):g} CPU seconds, are wanted.",
    ]
    return "\n".join(lines) + "\n"


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each number."""
    return Cost(*(statistics.median(getattr(it, name) for it in costs) for name in ("wall", "cpu", "megabytes")))


def main() -> int:
    """Measure in turns, so that what else the machine does meets both alike."""
    with tempfile.TemporaryDirectory(prefix="switches") as name, served(Path(name)) as ports:
        folder = Path(name)
        place, bare = inventory(folder, ports), logins(folder, ports)
        idle = folder / "idle.yml"
        task = {"name": "Do nothing", "ansible.builtin.debug": {"msg": "nothing"}}
        idle.write_text(yaml.safe_dump([{"hosts": "switches", "gather_facts": False, "tasks": [task]}]))
        played(place, "-e", "fabric_switch_phase=all", "-e", "fabric_switch_may_flap_ports=true")
        work: dict[str, Callable[[], Cost]] = {
            RUN: lambda: converged(place),
            IDLE: lambda: spent(ANSIBLE, "-i", str(place), "--forks", str(FORKS), str(idle))[0],
            BARE: lambda: spent(sys.executable, "-m", "bench.bare_logins", str(bare))[0],
        }
        rounds = [{what: one() for what, one in work.items()} for _round in range(ROUNDS)]
    costs = {what: middle([it[what] for it in rounds]) for what in work}
    ratios = {
        kind: statistics.median(getattr(it[RUN], kind) / getattr(it[BARE], kind) for it in rounds)
        for kind in ("wall", "cpu")
    }
    store("switches", {what: asdict(cost) for what, cost in costs.items()}, page(costs, ratios, os.getloadavg()[0]))
    return int(ratios["wall"] > goal(RATIO) or costs[RUN].cpu > goal(CPU))


if __name__ == "__main__":
    sys.exit(main())

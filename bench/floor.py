# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of a run that changes nothing, compared with the minimum of Ansible: `python -m bench.floor`.

In one go, against a lab whose site is built, in turns and several times: our plays on the nodes; as many no-op modules
on the same nodes as ours run there; one ssh to each node; and an empty play, which is what every run pays before its
first task. Medians and ratios go to bench/measured/floor.md. The ratios are goals: a busy machine fails no
build.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench.budgets import goal
from bench.counted import ROOT, Counting, Report, groups, run
from bench.results import store
from lab.hosts.paths import Paths

ROUNDS = 3
PLAYBOOKS = ("check", "parts/visit_nodes")
"""What a run of the site does to a node, its check of the intent included."""
ANSIBLE = (str(Path(sys.executable).parent / "ansible-playbook"), "-i", "inventories/lab")


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock, and of the controller's processors."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Taken:
    """Time some work that starts processes and waits for them."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    work()
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def ansible(*words: str) -> None:
    """Run a playbook. Leaves with its output when it fails."""
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run([*ANSIBLE, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}{words[-1]} failed; build the site first")


SSH = ("ssh", "-F", str(Paths.of().ssh_config), "-o", "ControlPath=none")


def ours(node: str, folder: Path) -> list[str]:
    """Words that run our plays on the nodes and on nothing else: the controller's part is the key that they share."""
    key = subprocess.run([*SSH, node, "base64 -w0 /etc/munge/munge.key"], capture_output=True, text=True, check=False)
    if key.returncode:
        sys.exit(f"{node} has no munge key ({key.stderr.strip()}); build the site first")
    path = folder / "key.json"
    path.touch(0o600)
    path.write_text(json.dumps({"slurm_node_munge_key": key.stdout.strip()}))
    return ["--limit", "nodes", "--extra-vars", f"@{path}", *(f"playbooks/{name}.yml" for name in PLAYBOOKS)]


def one_ssh_each(nodes: Sequence[str]) -> None:
    """Log in to every node at once and do nothing there."""
    started = [subprocess.Popen([*SSH, node, "true"], stdin=subprocess.DEVNULL) for node in nodes]
    if any([process.wait() for process in started]):
        sys.exit("a node can't be reached by ssh; is the lab up? lab/lab status")


def play(tasks: int) -> list[dict[str, object]]:
    """A play of no-op modules on the nodes."""
    ping = {"name": "Do nothing", "ansible.builtin.ping": {}}
    return [{"name": "Measure the floor", "hosts": "nodes", "gather_facts": False, "tasks": [ping] * tasks}]


def modules(report: Report, nodes: Sequence[str]) -> int:
    """How many modules a node ran: argument validation and skipped tasks stay on the controller."""
    costs = [report["hosts"][node] for node in nodes]
    return max(cost["results"] - cost["validated"] - cost["skipped"] for cost in costs)


def count(words: Sequence[str], nodes: Sequence[str], folder: Path) -> int:
    """Modules that our run takes a node. Leaves unless the run has nothing to do."""
    counting = Counting(folder)
    done = run(counting, *ANSIBLE[1:], *words)
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}the run failed; build the site first")
    report = counting.report(PLAYBOOKS[0])
    if busy := [node for node in nodes if report["hosts"][node]["changed"]]:
        sys.exit(f"this run changed {', '.join(busy)}; measure again, now that there is nothing left to do")
    return modules(report, nodes)


def ratios(taken: Mapping[str, Taken]) -> dict[str, dict[str, float]]:
    """By clock and by processor; `above start` leaves out on both sides what an empty play takes."""
    found = {}
    for kind in ("wall", "cpu"):
        seconds = {name: getattr(value, kind) for name, value in taken.items()}
        converge, floor, start = seconds["converge"], seconds["modules"], seconds["start"]
        found[kind] = {
            "converge / modules": converge / floor,
            "converge / modules, above start": (converge - start) / max(floor - start, 0.001),
            "converge / ssh": converge / seconds["ssh"],
        }
    return found


def medians(rounds: Sequence[Mapping[str, Taken]]) -> dict[str, Taken]:
    """The middle of each measure over the rounds."""
    return {
        name: Taken(*(statistics.median(getattr(done[name], kind) for done in rounds) for kind in ("wall", "cpu")))
        for name in rounds[0]
    }


def page(taken: Mapping[str, Taken], nodes: int, tasks: int) -> str:
    """The table as Markdown."""
    names = {
        "converge": f"our plays on {nodes} nodes, nothing to do ({tasks} modules a node)",
        "modules": f"{tasks} no-op modules a node",
        "start": "an empty play",
        "ssh": "one ssh a node, all at once",
    }
    lines = ["| what | seconds | CPU seconds of the controller |", "|---|---|---|"]
    lines += [f"| {text} | {taken[name].wall:.2f} | {taken[name].cpu:.2f} |" for name, text in names.items()]
    lines += ["", "| ratio | by the clock | by CPU | goal |", "|---|---|---|---|"]
    by = ratios(taken)
    for ratio, wall in by["wall"].items():
        wanted = f"at most {goal(ratio):g}" if ratio == "converge / modules" else ""
        lines.append(f"| {ratio} | {wall:.2f} | {by['cpu'][ratio]:.2f} | {wanted} |")
    head = "# Above the floor\n\nMade by `python -m bench.floor`, median of"
    return f"{head} {ROUNDS} rounds; the hosts share the controller's processors.\n\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Measure in turns, so that what else the machine does meets all alike."""
    nodes = groups()["nodes"]
    with tempfile.TemporaryDirectory(prefix="floor") as name:
        folder = Path(name)
        words = ours(nodes[0], folder)
        tasks = count(words, nodes, folder)
        for file, number in (("modules", tasks), ("start", 0)):
            (folder / f"{file}.yml").write_text(yaml.safe_dump(play(number)))
        work: dict[str, Callable[[], object]] = {
            "converge": lambda: ansible(*words),
            "modules": lambda: ansible(str(folder / "modules.yml")),
            "start": lambda: ansible(str(folder / "start.yml")),
            "ssh": lambda: one_ssh_each(nodes),
        }
        rounds = [{what: timed(does) for what, does in work.items()} for _ in range(ROUNDS)]
    taken = medians(rounds)
    content = {"nodes": len(nodes), "modules": tasks, "seconds": {k: vars(v) for k, v in taken.items()}}
    store("floor", content | {"ratios": ratios(taken)}, page(taken, len(nodes), tasks))
    return 0


if __name__ == "__main__":
    sys.exit(main())

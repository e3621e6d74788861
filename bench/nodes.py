# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node costs the controller in a run that changes nothing: `python -m bench.nodes`, about half an hour.

Boots the lab with its spares and builds the site on all nodes. Then takes turns for some numbers of nodes: (1) The play
that visits them. (2) The same with nodes that compute elsewhere (bench/answers.py), as real ones do. (3) A play with
one no-op module. (4) One ssh to each. The slope of a line through the processor times is the cost of one more node.
From it bench/fit.py says what 1,000 would cost. bench/measured/nodes.md gets the table. The goals are in
tests/budgets.yml; a busy machine fails no build.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from bench import answers
from bench.budgets import goal
from bench.fit import ERRORS, Line, fitted
from bench.results import store
from bench.sixteen import ANSIBLE, NODES, PLAYBOOKS, built, command, munge_key
from lab.hosts.paths import Paths

ROUNDS, SIZES, BEYOND = 5, (1, 2, 4, 8, 16), (1000, 10000)
HERE, VISIT, MODULE, SSH = "visit here", "visit", "no-op module", "ssh"
RATIO = "a visit, times one no-op module in CPU seconds of the controller"
NAMES = {
    VISIT: "the visit of a node, nothing to do",
    HERE: "the same, with nodes that compute on the controller's processors",
    MODULE: "one no-op module",
    SSH: "one `ssh node true`",
}


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


def works(words: Sequence[str], folder: Path, number: int) -> dict[str, Callable[[], object]]:
    """The kinds of work on so many nodes. A visit of nodes that compute elsewhere needs their answers."""
    chosen = ",".join(NODES[:number])
    ssh = ["ssh", "-F", str(Paths.of().ssh_config), "-o", "ControlPath=none"]
    key = munge_key(folder)
    noop = folder / "noop.yml"
    task = {"name": "Do nothing", "ansible.builtin.ping": {}}
    noop.write_text(yaml.safe_dump([{"hosts": "nodes", "gather_facts": False, "tasks": [task]}]))

    def one_ssh_each() -> None:
        started = [subprocess.Popen([*ssh, node, "true"], stdin=subprocess.DEVNULL) for node in NODES[:number]]
        if any([process.wait() for process in started]):
            sys.exit("a node can't be reached by ssh")

    def visit(*more: str) -> None:
        out = command(ANSIBLE, *words, *more, "--limit", chosen, "-e", f"@{key}", *PLAYBOOKS)
        if "changed=1" in out:
            sys.exit(f"{out[-2000:]}this run changed something; measure again, now that there is nothing left to do")

    return {
        HERE: visit,
        VISIT: lambda: visit(*answers.WORDS),
        MODULE: lambda: command(ANSIBLE, *words, "--limit", chosen, str(noop)),
        SSH: one_ssh_each,
    }


def costs(lines: Mapping[str, Line]) -> float:
    """What a visit costs the controller, in no-op modules of the same run."""
    return lines[VISIT].node / lines[MODULE].node


def page(taken: Mapping[str, Mapping[int, Taken]], lines: Mapping[str, Line], answer: float) -> str:
    """The tables as Markdown."""
    sizes = " | ".join(map(str, SIZES))
    rows = [
        f"| CPU seconds of the controller, by nodes | {sizes} | a node | off the line |",
        "|" + "---|" * (len(SIZES) + 3),
    ]
    for what, name in NAMES.items():
        cells = [f"{taken[what][size].cpu:.2f}" for size in SIZES]
        rows.append(f"| {name} | {' | '.join(cells)} | {lines[what].node:.3f} | {lines[what].off:.2f} |")
    rows += ["", f"| seconds by the clock, by nodes | {sizes} |"]
    rows.append("|" + "---|" * (len(SIZES) + 1))
    for what, name in NAMES.items():
        rows.append(f"| {name} | {' | '.join(f'{taken[what][size].wall:.2f}' for size in SIZES)} |")
    rows += ["", "| CPU seconds by the model | " + " | ".join(f"{size:,} nodes" for size in BEYOND) + " |"]
    rows.append("|" + "---|" * (len(BEYOND) + 1))
    for what, name in NAMES.items():
        cells = [f"{lines[what].at(size):.0f} ± {lines[what].error(size):.0f}" for size in BEYOND]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    rows += ["", f"The model is a line through all rounds; ± are {ERRORS:g} standard errors. No run had so many nodes."]
    ratio = costs(lines)
    text = (
        f"A visit costs the controller {lines[VISIT].node:.2f} s of processor time a node, {ratio:.1f} times one no-op"
        f" module. At most {goal(RATIO):g} times is wanted."
    )
    one, many = (taken[VISIT][size].wall for size in (SIZES[0], SIZES[-1]))
    text += (
        f"\n\nNodes send the answers of before, after the {answer:.1f} s that one node needs alone. By the clock"
        f" {SIZES[-1]} nodes take {many:.1f} s and one takes {one:.1f} s, {many / one:.1f} times. At most"
        f" {goal('a visit of 16 nodes, times one by the clock'):g} is wanted."
    )
    made = f"Made by `python -m bench.nodes`, median of {ROUNDS} rounds."
    return f"# Nodes\n\n{made}\n\n" + "\n".join(rows) + f"\n\n{text}\n"


def main() -> int:
    """Measure in turns, so that what else the machine does meets all alike."""
    with tempfile.TemporaryDirectory(prefix="nodes") as name:
        folder = Path(name)
        words = built(folder)
        answer = answers.recorded(NODES, lambda number: works(words, folder, number)[VISIT](), ROUNDS)
        rounds = [
            {size: {what: timed(work) for what, work in works(words, folder, size).items()} for size in SIZES}
            for _ in range(ROUNDS)
        ]
    taken = {
        what: {
            size: Taken(*(statistics.median(getattr(done[size][what], kind) for done in rounds) for kind in asdict(it)))
            for size, it in ((size, rounds[0][size][what]) for size in SIZES)
        }
        for what in NAMES
    }
    lines = {what: fitted([(size, done[size][what].cpu) for done in rounds for size in SIZES]) for what in NAMES}
    content = {what: {size: asdict(it) for size, it in sizes.items()} for what, sizes in taken.items()}
    result = {"seconds": content, "lines": {what: asdict(line) for what, line in lines.items()}, "answer": answer}
    store("nodes", result, page(taken, lines, answer))
    return int(costs(lines) > goal(RATIO))


if __name__ == "__main__":
    sys.exit(main())

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of `make test` and of `make nightly`: commands, and the labs whose hosts they boot.

A part belongs to the night if it is slow and seldom red, or repeats on more kinds what a part of every run shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.old_python import node_side

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
FIRST_LAB = 60
"""Lab ids from here on belong to molecule scenarios and those right below to other parts, never to a person's lab."""
FIRST_AT_NIGHT = 20
"""Those from here on to parts of the night."""
CHAINS = (
    ("gpu_operator", "rdma_plugin", "kube_node", "kubelet_numa"),
    ("slurm_controller", "slurm_node", "slurm_login"),
)
"""Scenarios that go on, in this order, with the hosts of the ones before: each runs alone as well, but boots anew."""
LONG = ("default", "slurm_gate", "gpu_operator", "existing")
"""Words of parts that have a lab for long, the longest first: they wait more than they compute."""
LAYERS = ("drawbridge_status", "fabric_nic", "gpfs_client", "kube_installer", *CHAINS[1])
"""Scenarios of layers that `default`, `existing` and `slurm_gate` build and change on whole sites."""
CAPABILITIES = ("node_proof", "drawbridge_run", "telemetry", "node_health", "project", "gpfs_csi", "gpus")
AT_NIGHT = (*LAYERS, "mixed", "rails", "pilot", *CAPABILITIES)
"""Scenarios of the night."""
SCHEDULES = 300
"""Of the explorer in every run; at night it runs all, hunts defects, and tells which calls no fault has reached."""
SEEDS = 5
"""Of chaos, a night, of those that have not passed yet."""
RELEASES = ("2.16", "2.18", "2.19", "2.21")
SEEN = ("pylint", "import", "pep8")
"""Tests of ansible-test that take most of its time. Ruff, pyright and old-python look at the same files."""
LINT = (str(BIN / "ansible-lint"), "--offline", "-q")
NEXT_SLURM = (
    *("tests/lab/test_slurm_metrics.py", "tests/lab/test_node_record.py", "tests/lab/test_slurm_budgets.py"),
    *("tests/lab/test_slurm_amd.py", "tests/lab/test_slurm_mig.py"),
)
"""Live tests that run with Debian's newest Slurm too."""
LIMIT_S, NIGHT_S = 3600, 4 * 3600
"""What a part may take, some times as long as any does: one that hangs must not keep the table from those who wait."""
DOWN = (str(BIN / "python"), "lab/lab", "down")

Command = tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """Commands that stand for one line of the table."""

    name: str
    commands: tuple[Command, ...]
    labs: tuple[int, ...] = ()
    """Ids of the labs whose hosts it boots; its commands get the first."""
    limit_s: int = LIMIT_S
    site: str = ""
    """The lab's site, where its commands don't say it."""

    @property
    def words(self) -> set[str]:
        """What names it on the command line."""
        return {self.name, *self.name.split()}


def python(*args: str) -> Command:
    return (str(BIN / "python"), *args)


PYTEST = python("-m", "pytest", "-q", "--durations=5")


def molecule(names: Sequence[str]) -> tuple[Command, ...]:
    """The commands of a scenario, or of a chain, whose hosts stay until its end."""
    program = str(BIN / "molecule")
    if len(names) == 1:
        return ((program, "test", "-s", names[0]),)
    # molecule would boot nothing where it remembers hosts of an earlier run
    forget = (program, "reset", *(word for name in names for word in ("-s", name)))
    return (forget, *((program, "test", "--destroy", "never", "-s", name) for name in names), DOWN)


def long_files(name: str) -> tuple[Command, ...]:
    """The commands for the long tests of a scenario, one after the other on its hosts."""
    program, folder = str(BIN / "molecule"), ROOT / "molecule" / name / "tests"
    files = [str(path.relative_to(ROOT)) for path in sorted(folder.glob("long_*.py"))]
    tests = [python("-m", "pytest", "-q", "-s", file) for file in files]
    return ((program, "reset", "-s", name), (program, "converge", "-s", name), *tests, DOWN)


def chains(scenarios: Sequence[str]) -> list[Sequence[str]]:
    """Chains of these scenarios, and the others one by one."""
    whole = [chain for chain in CHAINS if set(chain) <= set(scenarios)]
    chained = {name for chain in whole for name in chain}
    return [*whole, *([name] for name in scenarios if name not in chained)]


def rank(part: Part) -> int:
    """Where a part with a lab stands among the others."""
    return next((at for at, word in enumerate(LONG) if word in part.name.split()), len(LONG))


def scenarios() -> list[str]:
    """All of them."""
    return sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml"))


def every_run() -> list[Part]:
    """The parts of `make test`; long ones first, so that the last minutes are not one part alone."""
    names = [name for name in scenarios() if name not in AT_NIGHT]
    names_of_guards = ("adoption", "attacks", "project_objects", "run_workloads")
    guards = tuple(f"tests/attacks/test_{name}.py" for name in names_of_guards)
    labs = [
        *(
            Part(f"molecule {' '.join(names)}", molecule(names), (FIRST_LAB + at,))
            for at, names in enumerate(chains(names))
        ),
        Part("hosts", ((*PYTEST, "-m", "live", "tests/lab"),), (FIRST_LAB - 5, FIRST_LAB - 4)),
        Part("attacks", ((*PYTEST, "-m", "live", *guards),), (FIRST_LAB - 3,)),
    ]
    labs.sort(key=rank)
    # a lab takes its share of the processors as long as it is up, so what needs none runs beside two of them
    return [*labs[:2], *without_labs(), *labs[2:]]


def without_labs() -> list[Part]:
    """Those of every run that boot no host."""
    # what runs on nodes is tested once, on the oldest Python; hosts of labs run it on today's
    controllers = (f"--ignore={path.relative_to(ROOT)}" for path in node_side.tests())
    return [
        Part("old-python", (python("-m", "tests.old_python"),)),
        Part("unit", ((*PYTEST, "-n", "4", "--dist", "worksteal", *controllers, "tests/unit"),)),
        Part("collection", ((*PYTEST, "tests/collection"),)),
        Part("old-ansible", (python("-m", "tests.old_ansible"),)),
        *checks(),
        Part("sanity", (python("-m", "tests.sanity", *(word for name in SEEN for word in ("--skip-test", name))),)),
        Part("explorer", (python("-m", "tests.explorer", "--schedules", str(SCHEDULES), "--mutants", "-"),)),
        Part("lab", ((*PYTEST, "-m", "not live", "-n", "2", "--dist", "loadfile", "tests/lab"),)),
        Part("alerts", ((*PYTEST, "tests/alerts"),)),
    ]


def checks() -> list[Part]:
    """Those that read the tree alone."""
    lint = (
        (str(BIN / "ruff"), "check", "."),
        (str(BIN / "ruff"), "format", "--check", "."),
        # playbooks of molecule run each time, so that ansible-lint sees those at night
        (*LINT, "--exclude", "molecule"),
        (str(BIN / "antsibull-changelog"), "lint"),
    )
    return [
        Part("lint", lint),
        Part("types", ((str(BIN / "pyright"),),)),
        Part("conformance", ((*PYTEST, "tests/conformance"),)),
    ]


def daily() -> list[Part]:
    """The parts of `make check`, which boot no lab; all unit tests on today's Python."""
    return [*checks(), Part("unit", ((*PYTEST, "-n", "4", "--dist", "worksteal", "tests/unit"),))]


def nightly() -> list[Part]:
    """The parts of `make nightly`, by what they need: one lab after the other."""
    long = [name for name in scenarios() if any((ROOT / "molecule" / name / "tests").glob("long_*.py"))]
    sites = {name: name for name in ("mixed", "rails")}
    modules = {"isolation": "tests.isolation", "rxe": "tests.rxe", "dcb": "tests.dcb"}
    labs = [
        *(Part(f"molecule {' '.join(names)}", molecule(names)) for names in chains(AT_NIGHT)),
        *(Part(f"long-{name}", long_files(name), site=sites.get(name, "")) for name in long),
        Part("chaos", (python("-m", "tests.chaos", "--next", str(SEEDS)),)),
        # what every line of a policy is there for, and its types
        Part("teeth", ((*PYTEST, "-m", "live", "tests/attacks/test_teeth.py", "tests/attacks/test_types.py"),)),
        *(Part(name, (python("-m", module),)) for name, module in modules.items()),
    ]
    others = [
        Part("mutants", (python("-m", "tests.mutants"),)),
        Part("drawn", (python("-m", "tests.mutants.drawn"),)),
        Part("schedules", (python("-m", "tests.explorer"),)),
        Part("differential", (python("-m", "tests.differential", "--core", *RELEASES),)),
        Part("old-pythons", (python("-m", "tests.old_python", "--all"),)),
        Part("old-collection", (python("-m", "tests.old_ansible", "--all"),)),
        Part("mistakes", ((*PYTEST, "-n", "2", "--dist", "worksteal", "tests/collection/long_mistakes.py"),)),
        Part("next-slurm", (("env", "SLURM_SUITE=sid", *PYTEST, "-m", "live", *NEXT_SLURM),)),
        Part("rest-of-sanity", (python("-m", "tests.sanity", *(word for name in SEEN for word in ("--test", name))),)),
        Part("lint-of-molecule", ((*LINT, "molecule"),)),
    ]
    booted = [
        Part(part.name, part.commands, (FIRST_AT_NIGHT + at,), NIGHT_S, part.site) for at, part in enumerate(labs)
    ]
    return [*(Part(part.name, part.commands, limit_s=NIGHT_S) for part in others), *booted]

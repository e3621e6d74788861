# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line. Pure."""

from __future__ import annotations

import argparse

from ..gate.hostlist import HostlistError, expand
from ..job.text import NAME
from ..project import options as project

CODES = "exit codes: 0 all is well, 1 look at it, 2 a node needs a person, 3 Slurm or Kubernetes does not answer"
JOB_CODES = (
    "exit codes: 0 nothing is odd, 1 there is a hint, 2 a node needs a person, 3 Slurm or Prometheus does not answer"
)
DRIFT_CODES = "exit codes: 0 no drift, 3 drift, otherwise ansible-playbook's own"


def names(text: str) -> list[str]:
    """Names of a hostlist. Raises ArgumentTypeError."""
    try:
        return expand(text)
    except HostlistError as err:
        raise argparse.ArgumentTypeError(f"{text} is no hostlist of Slurm: {err}") from err


def seconds(text: str) -> float:
    """A positive number. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text}: write a number of seconds, such as 5")
    return value


def job(text: str) -> str:
    """A job's number. Raises ArgumentTypeError."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text}: write a job's number, such as 4711, or 4711_3 in an array")
    return text


def parser() -> argparse.ArgumentParser:
    """All commands."""
    made = argparse.ArgumentParser(prog="drawbridge", allow_abbrev=False)
    commands = made.add_subparsers(dest="command", required=True)
    status = commands.add_parser("status", help="the state of nodes, with cause and next step", epilog=CODES)
    add = status.add_argument
    add("nodes", nargs="*", type=names, metavar="NODES", help="a hostlist; a single node is explained (all)")
    add("--partition", default="", metavar="NAME", help="only nodes of this partition of Slurm")
    add("--unit", default="", metavar="NAME", help="only nodes of this scalable unit")
    add("--json", action="store_true", help="print JSON")
    add("--watch", nargs="?", type=seconds, const=5.0, metavar="SECONDS", help="print again every 5 seconds")
    add("--kubeconfig", default="", metavar="FILE", help="kubeconfig (KUBECONFIG, or ~/.kube/config)")
    about = "what Slurm and Prometheus know of a job, with hints"
    one = commands.add_parser("job", help=about, description=about, epilog=JOB_CODES)
    one.add_argument("job", type=job, metavar="ID", help="its number, such as 4711, or 4711_3 in an array")
    one.add_argument("--json", action="store_true", help="print JSON")
    project.add(commands)
    drift = commands.add_parser(
        "drift", help="differences from the intent, and those that are new since the last check", epilog=DRIFT_CODES
    )
    drift.add_argument("--state", default="", metavar="FOLDER", help="folder of reports (~/.local/state/drawbridge)")
    drift.add_argument("words", nargs=argparse.REMAINDER, metavar="-- OPTIONS", help="ansible-playbook's")
    return made

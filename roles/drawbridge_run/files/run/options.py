# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line. Pure."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..gate.config import Refused
from ..gate.gate_names import MAX_GRACE_S
from . import usage_errors
from .manual import DESCRIPTION, EPILOG, USAGE

NAME = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Options:
    """The user's options."""

    image: str
    command: tuple[str, ...]
    name: str = "run"
    backend: str = "job"
    mounts: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    workdir: str = ""
    env: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    pull: str = "missing"
    grace_s: int = 30
    patience_s: int = 180
    all_logs: bool = False
    keep: bool = False
    dry_run: bool = False
    shell: bool = False
    rank: int = 0


class Parser(argparse.ArgumentParser):
    """Reports an error in one sentence, without the usage text."""

    def error(self, message: str) -> NoReturn:
        """Raises Refused."""
        raise Refused(f"{message}; {usage_errors.LIST}")


def whole(text: str) -> int:
    """A number that is not negative. Raises ArgumentTypeError."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no whole number")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """All options with their help."""
    made = Parser(
        prog="drawbridge-run",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = made.add_argument
    many: dict[str, Any] = {"action": "append", "default": []}
    flag: dict[str, Any] = {"action": "store_true"}
    add("--image", default="", help="the pods' image, with its registry")
    add("--mount", dest="mounts", **many, metavar="PATH[:ro]", help="only these shared file systems (all)")
    add("--claim", dest="claims", **many, metavar="NAME", help="mount this claim of the project, too, at /claims/NAME")
    add("--workdir", default="", metavar="PATH", help="where COMMAND starts (the directory that you are in)")
    add("--env", **many, metavar="NAME[=VALUE]", help="set a variable in the pods, or pass yours on")
    add("--secret-env", dest="secrets", **many, metavar="NAME=SECRET/KEY", help="set a variable from a Secret's key")
    add("--name", default="run", help="part of the pods' names, if you start several (run)")
    add("--backend", default="job", choices=("job", "trainjob", "pytorchjob"), help="kind of workload (job)")
    add("--pull", default="missing", choices=("missing", "always", "never"), help="when to pull the image (missing)")
    add("--grace", dest="grace_s", type=whole, default=30, metavar="SECONDS", help="time to end (30, at most 120)")
    add("--patience", dest="patience_s", type=whole, default=180, metavar="SECONDS", help="time to start (180)")
    add("--all-logs", **flag, help="print what all ranks print, each line with its rank")
    add("--keep", **flag, help="leave pods and logs in Kubernetes until the job ends")
    add("--dry-run", **flag, help="print the workload as JSON, which kubectl reads too, and create nothing")
    add("--shell", **flag, help="a shell in a pod of this job; with --image in a new one on the first node")
    add("--rank", type=whole, default=0, metavar="N", help="with --shell: the pod of this rank (0)")
    return made


def parse(argv: Sequence[str]) -> Options:
    """Read a command line. Raises Refused; SystemExit for --help."""
    words = list(argv)
    if not words:
        raise Refused(usage_errors.EMPTY)
    split = words.index("--") if "--" in words else len(words)
    made = parser()
    given, rest = made.parse_known_args(words[:split])
    command = words[split + 1 :]
    if rest:
        known = [name for action in made._actions for name in action.option_strings]
        raise Refused(usage_errors.unknown_options(rest, split < len(words), known))
    lists = {name: tuple(value) for name, value in vars(given).items() if isinstance(value, list)}
    found = Options(**{**vars(given), **lists, "command": tuple(command)})
    _require(found)
    return found


def _require(options: Options) -> None:
    for wrong in (_program(options), _numbers(options), _names(options)):
        if wrong:
            raise Refused(wrong)


def _program(options: Options) -> str:
    if not options.shell and not options.image:
        return "no image: add one, such as --image docker.io/library/python:3.13"
    if not options.shell and not options.command:
        return "no command: end the line with -- and the command, such as -- python train.py"
    return (usage_errors.image(options.image) if options.image else "") or usage_errors.command(options.command)


def _numbers(options: Options) -> str:
    if not 1 <= options.grace_s <= MAX_GRACE_S:
        return f"--grace {options.grace_s}: write 1 to {MAX_GRACE_S} seconds"
    if options.patience_s < 1:
        return f"--patience {options.patience_s}: write at least 1 second"
    if options.rank and not options.shell:
        return f"--rank {options.rank}: it needs --shell; without --shell the command runs on all ranks"
    return ""


def _names(options: Options) -> str:
    if options.workdir and not options.workdir.startswith("/"):
        return f"--workdir {options.workdir}: write a full path, such as $PWD/{options.workdir}"
    if not NAME.fullmatch(options.name):
        return f"--name {options.name}: a name is up to 20 small letters, digits and dashes and begins with a letter"
    for text in (*options.env, *options.secrets):
        if not VARIABLE.fullmatch(text.partition("=")[0]):
            return f"{text}: a variable's name is letters, digits and _, and begins with no digit"
    for text in options.secrets:
        secret, _sep, key = text.partition("=")[2].partition("/")
        if not (secret and key):
            return f"--secret-env {text}: write NAME=SECRET/KEY, with a Secret of the job's namespace"
    return ""

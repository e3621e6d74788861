# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Frequent usage errors, and corrections. Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Mapping, Sequence

SLURMS = {
    "--nodes": "-N --nodes",
    "--gres": "-G --gres --gpus --gpus-per-node",
    "--ntasks-per-node": "-n --ntasks --ntasks-per-node",
    "--partition": "-p --partition",
    "--time": "-t --time",
    "--account": "-A --account",
    "--array": "-a --array",
    "--nodelist": "-w --nodelist",
    "--output": "-o --output",
}
"""Options of sbatch and salloc, with their spellings."""
OTHERS = {
    "--mount": "-v -B --volume --bind --container-mounts",
    "--claim": "--pvc --volume-claim",
    "--image": "-i --container-image",
    "--env": "-e --environment --export",
    "--workdir": "--cwd --pwd --chdir --container-workdir",
    "--shell": "-it --pty --interactive",
}
"""Options of drawbridge-run, with their names in other programs."""
EMPTY = "name an image and a command: drawbridge-run --image IMAGE -- COMMAND, in a Slurm job; or --help"
LIST = "drawbridge-run --help lists the options"
FILES = re.compile(r"[./~].*|.*\.(sif|sqsh|squashfs|tar)|(library|shub|oras|oci-archive|docker-archive|file):.*")
SCHEME = re.compile(r"([a-z-]+)://+")
IMAGE = re.compile(
    r"([A-Za-z0-9-]+([.:][A-Za-z0-9-]+)+/)?[a-z0-9]+(([._/]|__|-+)[a-z0-9]+)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?"
)
VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
PLAIN = re.compile(r"[\w ./:,@%+=-]+", re.ASCII)
"""A line in which the shell finds nothing but words."""
SIGNS = re.compile(r"[&|;<>()$`]")
"""Signs of the shell that no program has in its name."""
SHELLS = ". alias cd eval exec export for if module set source ulimit umask unset while"
"""First words of a line that only a shell knows."""
LONGEST = 200
"""Characters of a command that a message repeats."""


def unknown_options(words: Sequence[str], dashes: bool, options: Collection[str]) -> str:
    """The error for unknown words; `dashes`: the command already follows --."""
    word, _sep, _sep = words[0].partition("=")
    if f"--{word}" in options:
        return f"{word} is no option of drawbridge-run; do you mean --{word}?"
    if not word.startswith("-"):
        if dashes:
            return f"{word} stands alone before --: every option takes one word, or an option's name is missing; {LIST}"
        return f"{word} is no option of drawbridge-run; write -- in front of the command: -- {' '.join(words)}"
    if option := _drawbridge_option(SLURMS, word):
        return f"{word} is Slurm's: pods get the job's resources; give {option} to sbatch or salloc"
    near = _drawbridge_option(OTHERS, word) or next(iter(difflib.get_close_matches(word, options, 1, 0.75)), "")
    return f"{word} is no option of drawbridge-run; {f'do you mean {near}?' if near else LIST}"


def _drawbridge_option(table: Mapping[str, str], word: str) -> str:
    return next((own for own, theirs in table.items() if word in theirs.split()), "")


def image(name: str) -> str:
    """The error in an image's name; "" without one."""
    scheme = SCHEME.match(name)
    if FILES.fullmatch(name):
        return f"--image {name}: pods have no images from files: name one in a registry, REGISTRY/NAME:TAG"
    # Enroot writes [USER@]REGISTRY#NAME
    near = re.sub(r"^([^@#/]*@)?([^#/]+)#", r"\2/", name[scheme.end() :] if scheme else name)
    if near != name and IMAGE.fullmatch(near):
        wrong = f"no {scheme.group()} in front" if scheme else "a / behind the registry, not a #"
        return f"--image {name}: an image has {wrong}: write {near}"
    if not IMAGE.fullmatch(name):
        return (
            f"--image {name}: an image is written REGISTRY/NAME:TAG, all but the tag in small letters, without blanks"
        )
    return ""


def command(words: Sequence[str]) -> str:
    """The error in a command; "" without one. No shell reads it: its first word is a program."""
    first = words[0] if words else ""
    if len(words) == 1 and (re.search(r"\S\s+\S", first) or SIGNS.search(first)):
        line = first.strip()
        plain = PLAIN.fullmatch(line) and not VARIABLE.match(line) and line.split()[0] not in SHELLS.split()
        return f"{_short(line)} is one word, and no program has this name: write -- " + (
            f"{line}, without quotes" if plain else _by_a_shell(line)
        )
    if VARIABLE.fullmatch(first):
        rest = shlex.join(words[1:]) if len(words) > 1 else "COMMAND"
        return f"{_short(first)} is a variable, not a program: write --env {shlex.quote(first)} -- {rest}"
    if first in SHELLS.split():
        return f"{first} is a word of the shell, not a program: write -- {_by_a_shell(shlex.join(words))}"
    return ""


def _short(line: str) -> str:
    return f"'{line}'" if len(line) <= LONGEST else f"'{line[:LONGEST]}...'"


def _by_a_shell(line: str) -> str:
    """The same line for a shell in the pod. Without quotes the batch script's shell would take a part of it."""
    return f"bash -c {shlex.quote(line) if len(line) <= LONGEST and line.isprintable() else 'LINE'}"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Frequent usage errors, and corrections. Pure."""

from __future__ import annotations

import difflib
import re
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
    "--image": "-i --container-image",
    "--env": "-e --environment --export",
    "--workdir": "--cwd --pwd --chdir --container-workdir",
    "--shell": "-it --pty --interactive",
}
"""Options of drawbridge-run, with their names in other programs."""
EMPTY = "name an image and a command: drawbridge-run --image IMAGE -- COMMAND, in a Slurm job; or --help"
LIST = "drawbridge-run --help lists the options"
FILES = re.compile(r"[./~].*|.*\.(sif|sqsh|squashfs|tar)")
SCHEME = re.compile(r"([a-z]+)://+")
IMAGE = re.compile(
    r"([A-Za-z0-9-]+([.:][A-Za-z0-9-]+)+/)?[a-z0-9]+(([._/]|__|-+)[a-z0-9]+)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?"
)


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
    if scheme := SCHEME.match(name):
        return f"--image {name}: an image has no {scheme.group()} in front: write {name[scheme.end() :]}"
    if FILES.fullmatch(name):
        return f"--image {name}: pods have no images from files: name one in a registry, REGISTRY/NAME:TAG"
    if not IMAGE.fullmatch(name):
        return (
            f"--image {name}: an image is written REGISTRY/NAME:TAG, all but the tag in small letters, without blanks"
        )
    return ""


def command(words: Sequence[str]) -> str:
    """The error in a command; "" without one."""
    if len(words) == 1 and re.match(r"[^/.\s]+\s+\S", words[0]):
        return f"'{words[0]}' is one word, the name of a program with blanks in it: write -- {words[0]}, without quotes"
    return ""

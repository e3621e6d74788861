# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as Junos prints it with `| display set`, line by line without the word `set`.

`deactivate PATH` is a line of its own: lines below PATH stay, but are not in force. A value that a group gives is in
force as if it were written.
"""

from __future__ import annotations

from fnmatch import fnmatch

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.junos import schema

Config = list[str]
NOT_FOUND = "warning: statement not found"
OFF = "deactivate "


def set_(config: Config, words: list[str]) -> None:
    """Do `set WORDS`. Raises Refused."""
    leaf = schema.leaf(words)
    line = " ".join(words)
    if leaf.single:
        head = " ".join(words[:-1])
        config[:] = [it for it in config if it.rpartition(" ")[0] != head]
    config[:] = [it for it in config if not f"{line} ".startswith(f"{it} ") or it == line]
    if not any(it == line or it.startswith(f"{line} ") for it in config):
        config.append(line)


def delete(config: Config, words: list[str]) -> str:
    """Do `delete WORDS`; an object that is empty then stays, with its name alone."""
    path = " ".join(words)
    gone = [it for it in config if below(it.removeprefix(OFF), path)]
    if not gone:
        return NOT_FOUND
    config[:] = [it for it in config if it not in gone]
    for line in gone:
        names = [" ".join(line.split()[:count]) for count in _elements(line.split())]
        kept = [name for name in names if not below(name, path)]
        if kept and not any(below(it, kept[-1]) for it in config):
            config.append(kept[-1])
    return ""


def switch(config: Config, words: list[str], on: bool) -> str:
    """Do `activate WORDS` or `deactivate WORDS`."""
    path = " ".join(words)
    if not any(below(it, path) for it in config):
        return NOT_FOUND
    config[:] = [it for it in config if it != f"{OFF}{path}"] + ([] if on else [f"{OFF}{path}"])
    return ""


def in_force(config: Config) -> Config:
    """Return the statements that are in force: active ones, and those of groups."""
    off = [it.removeprefix(OFF) for it in config if it.startswith(OFF)]
    active = [it for it in config if not it.startswith(OFF) and not any(below(it, path) for path in off)]
    return [it for it in inherited(active) if not it.startswith(("groups ", "apply-groups "))]


def inherited(config: Config) -> Config:
    """Return the configuration with what groups give to interfaces; a value of its own comes first."""
    applied = [it.split()[1] for it in config if it.startswith("apply-groups ")]
    names = dict.fromkeys(it.split()[1] for it in config if it.startswith("interfaces "))
    found = list(config)
    for group in applied:
        for words in (it.split()[2:] for it in config if it.startswith(f"groups {group} interfaces <")):
            for name in (name for name in names if fnmatch(name, words[1].strip("<>"))):
                line = ["interfaces", name, *words[2:]]
                if not any(it.rpartition(" ")[0] == " ".join(line[:-1]) for it in found):
                    found.append(" ".join(line))
    return found


def printed(config: Config) -> list[str]:
    """Return the lines in the order in which Junos prints them; the values of a list keep theirs."""
    lines = [it for it in config if not it.startswith(OFF)]
    marks = sorted(it for it in config if it.startswith(OFF))
    return [*(f"set {it}" for it in sorted(lines, key=_place)), *marks]


def below(line: str, path: str) -> bool:
    """Say whether a line is a path, or lies below it."""
    return f"{line} ".startswith(f"{path} ")


def value(config: Config, path: str) -> str:
    """Return the value of a statement that holds one, or nothing."""
    return next((it.removeprefix(f"{path} ") for it in config if it.startswith(f"{path} ")), "")


def _elements(words: list[str]) -> tuple[int, ...]:
    try:
        return schema.leaf(words).elements
    except schema.Refused:  # an empty object
        return ()


def _place(line: str) -> tuple[int, list[tuple[int, str]]]:
    words = line.split()
    try:
        listed = schema.leaf(schema.split(line)).listed
    except schema.Refused:
        listed = False
    top = schema.TOP.index(words[0])
    return top, tree.natural(" ".join(words[:-1] if listed else words))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of a run, as a report may show it, and the real run that a check advises.

This file reads the words as Ansible does. One word may hold several short options (`-DCe x`). A long option may be
shortened (`--extra x`). A value may follow in the same word.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from .secrets import redacted

FLAGS = (
    *("-h", "--help", "--version", "-v", "--verbose", "-b", "--become", "-C", "--check", "-D", "--diff", "--step"),
    *("-k", "--ask-pass", "-K", "--ask-become-pass", "-J", "--ask-vault-password", "--ask-vault-pass"),
    *("--force-handlers", "--flush-cache", "--syntax-check", "--list-hosts", "--list-tasks", "--list-tags"),
)
"""Options of ansible-playbook that take no value."""
EXTRA = ("-e", "--extra-vars")
HIDDEN = (*EXTRA, "--ssh-common-args", "--ssh-extra-args", "--sftp-extra-args", "--scp-extra-args")
"""Options whose value may hold a password: an extra variable, or a ProxyCommand."""
VALUED = (
    *HIDDEN,
    *("-i", "--inventory", "--inventory-file", "-l", "--limit", "-t", "--tags", "--skip-tags", "--start-at-task"),
    *("-u", "--user", "-c", "--connection", "-T", "--timeout", "-f", "--forks", "-M", "--module-path"),
    *("--private-key", "--key-file", "--connection-password-file", "--conn-pass-file", "--become-method"),
    *("--become-user", "--become-password-file", "--become-pass-file"),
    *("--vault-id", "--vault-password-file", "--vault-pass-file"),
)
"""Options that take one value."""
CHECK = ("-C", "--check")
LEFT_OUT = "..."
"""Stands for what may be a secret."""
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=([\w.,:@%+/\[\]-]*)")
"""A variable whose value needs no quotes. Any other text is left out whole."""
SWITCH = re.compile("true|false|yes|no", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """An option with its value, a bundle of short options whose last may have a value, or a plain word."""

    head: str
    """As it was written: -DCe, --extra. Empty for a plain word."""
    option: str = ""
    """The option that has the value."""
    joint: str = ""
    """What stands between option and value: a space, an equals sign or nothing."""
    value: str | None = None

    def written(self) -> str:
        """As one or two words of a shell."""
        head, value = (shlex.quote(text) if text is not None else "" for text in (self.head or None, self.value))
        return head + self.joint + value


def shown(argv: Sequence[str], readable: Collection[str]) -> str:
    """The command to repeat the run. What may be a secret is left out, but not names of files with extra variables.

    `readable` are the extra variables that hold no secret, the playbooks' own options.
    """
    if not argv:
        return ""
    return " ".join([PurePath(argv[0]).name, *(_open(part, readable).written() for part in _parts(argv[1:]))])


def real(command: str) -> str:
    """The shown command without check mode."""
    name, *words = shlex.split(command)
    kept = (_without_check(part) for part in _parts(words))
    return " ".join([name, *(part.written() for part in kept if part)])


def _parts(words: Sequence[str]) -> Iterator[Part]:
    """The parts of a command. After an option that this file does not know, the rest is left out."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield Part(word)
            yield from (Part("", value=plain) for plain in rest)
            return
        if not word.startswith("-") or word == "-":
            yield Part("", value=word)
            continue
        part = _long(word) if word.startswith("--") else _bundle(word)
        if part.option in VALUED and part.value is None and rest:
            part = replace(part, joint=" ", value=rest.pop(0))
        yield part
        if part.option not in (*FLAGS, *VALUED):
            yield Part("", value=LEFT_OUT)
            return


def _long(word: str) -> Part:
    head, equals, value = word.partition("=")
    names = [name for name in (*FLAGS, *VALUED) if name == head] or [
        name for name in (*FLAGS, *VALUED) if name.startswith(head)
    ]
    option = names[0] if names else ""
    return Part(head, option, equals, value) if equals and option in VALUED else Part(head, option)


def _bundle(word: str) -> Part:
    """Short options up to the first that takes a value, which the rest of the word is."""
    option = ""
    for end, letter in enumerate(word[1:], 2):
        option, rest = f"-{letter}", word[end:]
        if option in VALUED and rest:
            equals = "=" * rest.startswith("=")
            return Part(word[:end], option, equals, rest[len(equals) :])
        if option not in FLAGS:
            return Part(word[:end], option)
    return Part(word, option)


def _open(part: Part, readable: Collection[str]) -> Part:
    """The part as a report may show it."""
    if part.value is None:
        return part
    if part.option in EXTRA and not part.value.startswith("@"):
        return replace(part, value=_variables(part.value, readable))
    if part.option in HIDDEN and part.option not in EXTRA:
        return replace(part, value=LEFT_OUT)
    return replace(part, value=redacted(part.value))


def _variables(text: str, readable: Collection[str]) -> str:
    """Extra variables with their names, and with values that are no secret."""
    found = [ASSIGNMENT.fullmatch(word) for word in text.split(" ")]
    if not all(found):
        return LEFT_OUT
    pairs = ((match[1], match[2]) for match in found if match)
    return " ".join(
        f"{name}={value if name in readable or SWITCH.fullmatch(value) else LEFT_OUT}" for name, value in pairs
    )


def _without_check(part: Part) -> Part | None:
    """The part without check mode, or None where nothing is left."""
    if part.head.startswith("--") or not part.head:
        return None if part.option in CHECK else part
    head = part.head.replace("C", "")
    return replace(part, head=head) if head != "-" else None

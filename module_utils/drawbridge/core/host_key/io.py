# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A known_hosts file, read and changed with OpenSSH's own programs, and the keys that a host offers."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..command import Run
from ..converge import Step
from .plan import Key, KnownKeys

SCAN_S = 20


def entry_of(host: str, port: int) -> str:
    """A host's name in known_hosts (sshd(8))."""
    return host if port == 22 else f"[{host}]:{port}"


def keys_of(printed: str) -> list[Key]:
    """The keys of lines `NAMES TYPE BASE64`; comments and marked lines, such as @revoked, are none."""
    lines = [line.split() for line in printed.splitlines() if not line.startswith(("#", "@"))]
    return [Key(*words[1:3]) for words in lines if len(words) >= 3]


class Offer:
    """The keys that a host offers before a login."""

    def __init__(self, run: Run, host: str, port: int) -> None:
        self._argv, self._run = ["ssh-keyscan", "-T", str(SCAN_S), "-p", str(port), host], run

    def read(self) -> list[Key]:
        """Empty if it does not answer. Raises DeviceError if the program is missing."""
        return keys_of(self._run(self._argv, ok=(0, 1)).out)


class KnownHosts:
    """The entries of one host, under each of its names."""

    def __init__(self, run: Run, path: Path, entries: Sequence[str]) -> None:
        self.name, self._run, self._path, self._entries = str(path), run, path, list(entries)

    def read(self) -> KnownKeys:
        """ssh-keygen finds hashed names, too. It ends with 1 if there is none."""
        if not self._path.exists():
            return KnownKeys(frozenset())
        printed = [self._run(["ssh-keygen", "-F", it, "-f", self.name], ok=(0, 1)).out for it in self._entries]
        return KnownKeys(frozenset(key for text in printed for key in keys_of(text)))

    def apply(self, steps: Sequence[Step[KnownKeys]]) -> None:
        """Several hosts may be changed at once, each by a process of its own."""
        with self._locked():
            for step in steps:
                for entry in self._entries if self._path.exists() else ():
                    self._run(["ssh-keygen", "-R", entry, "-f", self.name])
                with self._path.open("a") as file:
                    file.write(f"{','.join(self._entries)} {step.payload.kind} {step.payload.blob}\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

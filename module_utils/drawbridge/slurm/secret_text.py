# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Passwords in Slurm's files: written to the file alone, and hidden in all texts that people see."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .config.text import HIDDEN

KEYS = ("AccountingStoragePass", "JobCompPass", "StoragePass")
ANOTHER = "(another one, hidden)"
_LINE = re.compile(rf"^(\s*)({'|'.join(KEYS)})(\s*=\s*)(.*)$", re.IGNORECASE | re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")


def hidden(text: str, secrets: Mapping[str, str]) -> str:
    """The text with a placeholder for each password, which tells whether it is the one of `secrets`."""

    def place(match: re.Match[str]) -> str:
        key, value = match[2], match[4].strip()
        right = _read(value) == secrets.get(key)
        return f"{match[1]}{key}{match[3]}{HIDDEN if right else ANOTHER}"

    return _LINE.sub(place, text)


def revealed(text: str, secrets: Mapping[str, str]) -> str:
    """The text with the passwords in the places of HIDDEN; a line without a password is left out."""
    lines = []
    for line in text.splitlines():
        key, _sep, value = line.partition("=")
        if value == HIDDEN and key in KEYS:
            lines += [f"{key}={_written(secrets[key])}"] if secrets.get(key) else []
        else:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def without_places(text: str, secrets: Mapping[str, str]) -> str:
    """The wanted text without the lines of passwords that are not given."""
    absent = {f"{key}={HIDDEN}" for key in KEYS if not secrets.get(key)}
    return "".join(f"{line}\n" for line in text.splitlines() if line not in absent)


def impossible(secrets: Mapping[str, str]) -> str:
    """Why a password can't be in such a file; empty: it can. The password itself is not in the answer."""
    for key, value in secrets.items():
        if key not in KEYS:
            return f"{key} is no key with a password; use one of {', '.join(KEYS)}"
        if re.search('["\\n\\r\\0]', value):
            return f"{key} has a quote or a line break, which Slurm's files can't hold; set another password"
    return ""


def _written(value: str) -> str:
    escaped = re.sub(r"([\\#])", r"\\\1", value)
    return f'"{escaped}"' if re.search(r"\s", value) else escaped


def _read(value: str) -> str:
    quoted = re.fullmatch('"([^"]*)"', value)
    return _ESCAPED.sub(r"\1", quoted[1] if quoted else value)

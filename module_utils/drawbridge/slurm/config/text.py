# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's configuration files: key=value, one setting or one record a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

HEADER = "# Managed by Drawbridge: change the inventory, not this file."
LUA_HEADER = "-- Managed by Drawbridge: change the inventory, not this file."
HIDDEN = "(hidden)"
"""In the place of a secret in texts that people see."""

CONF = "/etc/slurm/slurm.conf"
Record = Mapping[str, object]
"""Keys of one line in their order. A key with an empty value is left out: `PrologFlags=` ends slurmctld."""


def text(records: Iterable[Record], header: Iterable[str] = (HEADER,)) -> str:
    """A file with one line for each record."""
    return "".join(f"{line}\n" for line in [*header, *filter(None, map(line_of, records))])


def line_of(record: Record) -> str:
    """One line; values with blanks are quoted."""
    return " ".join(f"{key}={_value(value)}" for key, value in record.items() if value not in ("", None))


def settings(values: Record) -> list[Record]:
    """One line for every key."""
    return [{key: value} for key, value in values.items()]


def digest_of(content: str) -> str:
    """A short digest that distinguishes the files of a site."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def shown_settings(shown: str) -> dict[str, str]:
    """The settings of the running slurmctld as `scontrol show config` prints them, without users' numbers."""
    pairs = [line.split("=", 1) for line in shown.splitlines() if "=" in line]
    return {key.strip(): value.strip().split("(", 1)[0] for key, value in pairs}


def settings_of(text: str) -> dict[str, str]:
    """The lines of a rendered file with one setting each."""
    lines = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    return {key: value for key, _sep, value in (line.partition("=") for line in lines) if "=" not in value}


def same_hash(shown: str, conf: str = CONF) -> bool:
    """Whether `scontrol show config` reports that slurmctld has read the slurm.conf at this path as it is now.

    The hash is that of the file which slurmctld reads, wherever it is.
    """
    running = shown_settings(shown)
    return running.get("HASH_VAL") == "Match" and running.get("SLURM_CONF", conf) == conf


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "YES" if value else "NO"
    shown = str(value)
    return f'"{shown}"' if " " in shown else shown

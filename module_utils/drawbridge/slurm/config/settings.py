# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's own lines of slurm.conf, merged with Drawbridge's."""

from __future__ import annotations

from collections.abc import Mapping

from .text import Record
from .words import WORDS

_IDENTITY = ("AuthAltParameters", "AuthAltTypes", "AuthInfo", "AuthType", "CredType", "TLSParameters", "TLSType")
AT_START = {
    "slurmctld": (*_IDENTITY, "CommunicationParameters", "SlurmctldPort"),
    "slurmd": (*_IDENTITY, "CommunicationParameters", "SlurmdPort"),
    "sackd": _IDENTITY,
}
"""Addresses and authentication: daemons keep these through a reconfigure, and need a restart."""


def merged(own: Record, site: Mapping[str, str]) -> dict[str, object]:
    """Drawbridge's settings and the site's. A list that both set has the words of both, Drawbridge's first."""
    both: dict[str, object] = dict(own)
    for key, value in site.items():
        words = filter(None, (str(both.get(key, "")), value))
        both[key] = ",".join(dict.fromkeys(",".join(words).split(","))) if key in WORDS else value
    return both


def at_start(settings: Mapping[str, str], daemon: str) -> list[str]:
    """A comment with the settings that the daemon reads only when it starts; no line without such settings."""
    found = " ".join(f"{key}={settings[key]}" for key in AT_START[daemon] if key in settings)
    return [f"# read at start: {found}"] if found else []

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's own lines of slurm.conf, beside ours and joined to them."""

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
"""Where daemons listen and how they prove who they are: they keep that through a reconfigure, and need a restart."""


def joined(own: Record, site: Mapping[str, str]) -> dict[str, object]:
    """Our settings and the site's; a list that both write holds the words of both, ours first."""
    both: dict[str, object] = dict(own)
    for key, value in site.items():
        ours = str(both.get(key, ""))
        words = [word for word in (ours, value) if word]
        both[key] = ",".join(dict.fromkeys(",".join(words).split(","))) if key in WORDS else value
    return both


def at_start(settings: Mapping[str, str], daemon: str) -> list[str]:
    """What a daemon reads only when it starts, as a comment for a file that it reads then too: no line for nothing."""
    told = " ".join(f"{key}={settings[key]}" for key in AT_START[daemon] if key in settings)
    return [f"# read at start: {told}"] if told else []

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's own lines of slurm.conf, merged with Drawbridge's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..language.values import listed
from .keys import MERGED, PLUGIN_LISTS, PRESETS
from .text import Record

_IDENTITY = ("AuthAltParameters", "AuthAltTypes", "AuthInfo", "AuthType", "CredType", "TLSParameters", "TLSType")
AT_START = {
    "slurmctld": (*_IDENTITY, "CommunicationParameters", "SlurmctldPort"),
    "slurmd": (*_IDENTITY, "CommunicationParameters", "SlurmdPort"),
    "sackd": _IDENTITY,
}
"""Addresses and authentication: daemons keep these through a reconfigure, and need a restart."""


def merged(own: Record, site: Mapping[str, str]) -> dict[str, object]:
    """Drawbridge's settings, then the site's, which win. Some lists have the words of both, Drawbridge's first."""
    both: dict[str, object] = dict(own)
    for key, value in site.items():
        both[key] = _joined(key, listed(str(both.get(key, ""))), listed(value)) if key in MERGED else value
    return both


def _joined(key: str, own: Sequence[str], site: Sequence[str]) -> str:
    """Drawbridge's words first. Plugins run in order: a site's list that has Drawbridge's gives them their places."""
    first = () if key in PLUGIN_LISTS and set(own) <= set(site) else own
    return ",".join(dict.fromkeys([*first, *site]))


def preset(settings: Mapping[str, str], key: str) -> str:
    """The site's value of a key in PRESETS, or Drawbridge's."""
    return settings.get(key, PRESETS[key])


def first_port(settings: Mapping[str, str]) -> str:
    """The port of slurmctld; of a range the first one, because clients take one."""
    return preset(settings, "SlurmctldPort").partition("-")[0]


def on_node(path: str, name: str) -> str:
    """A path of slurm.conf on one node."""
    return path.replace("%n", name).replace("%h", name)


def at_start(settings: Mapping[str, str], daemon: str) -> list[str]:
    """A comment with the settings that the daemon reads only when it starts; no line without such settings."""
    found = " ".join(f"{key}={settings[key]}" for key in AT_START[daemon] if key in settings)
    return [f"# read at start: {found}"] if found else []

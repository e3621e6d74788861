# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The environment file of a unit against the one that replaces it. All that a compute node compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from ..config.text import HEADER, LUA_HEADER
from .model import DROPPED, KEPT, OURS, Change

FOLDERS = ("/etc/default", "/etc/sysconfig")
CONFIGURATIONS = frozenset(
    {"slurm.conf", "cgroup.conf", "slurmdbd.conf", "gres.conf", "topology.conf", "topology.yaml"}
)
"""Names of files that only the modules of slurmctld and slurmdbd compare."""


FETCHED = ("acct_gather.conf", "helpers.conf", "job_container.conf", "mpi.conf", "oci.conf", "plugstack.conf")
"""Files of the site's that a host without a slurm.conf fetches from the controller."""


def says_more(text: str) -> bool:
    """Whether such a file has lines of its own: a distribution's package brings one that includes a folder."""
    lines = (line.strip().lower() for line in text.splitlines())
    return any(line and not line.startswith(("#", "include ")) for line in lines)


def unread(path: str) -> Change:
    """What becomes of such a file on this host."""
    name = PurePath(path).name
    return Change(DROPPED, f"all of {name}", "", f"hosts fetch the controller's {name}: see that it has these lines")


def is_foreign(text: str) -> bool:
    """Whether Drawbridge has not written this file."""
    return bool(text.strip()) and not text.startswith((HEADER, LUA_HEADER))


def is_environment(path: str) -> bool:
    """Whether this is an environment file."""
    return str(PurePath(path).parent) in FOLDERS


def is_configuration(path: str) -> bool:
    """Whether this is a file of Slurm's own that may hold the site's lines."""
    place = PurePath(path)
    return place.name in CONFIGURATIONS or place.suffix == ".lua"


def changes(path: str, old: str, new: str) -> list[Change]:
    """What becomes of each variable; nothing for the file of a package, which sets none."""
    found = list(_changes(PurePath(path).name, variables(old), variables(new)))
    return found if any(change.group == DROPPED for change in found) else []


def _changes(unit: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Change]:
    for key, value in old.items():
        line = f"{key}={value}"
        if value in ("", new.get(key)):
            yield Change(KEPT, line, line)
        else:
            after = f"{key}={new[key]}" if key in new else ""
            yield Change(DROPPED, line, after, f"keep it in a drop-in: systemctl edit {unit}.service")
    for key in new.keys() - old.keys():
        yield Change(OURS, "", f"{key}={new[key]}")


def variables(text: str) -> Mapping[str, str]:
    """Variables of a unit's environment file."""
    pairs = (line.strip().partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {key: value.strip("\"'") for key, equals, value in pairs if equals}

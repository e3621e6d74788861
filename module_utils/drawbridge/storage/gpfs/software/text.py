# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of the vendor's package files, and the cluster that a host belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from ....core.converge import DeviceError

PATTERNS = {"apt": "{name}_{version}_*.deb", "dnf": "{name}-{version}.*.rpm"}
ANY_PATTERNS = {"apt": "{name}_*.deb", "dnf": "{name}-[0-9]*.rpm"}
"""Of a package in any version."""
ID_DIGITS = 15
"""Fewest digits of a cluster's id."""


def package_files(packages: Sequence[str], listing: Sequence[str], manager: str, directory: str) -> list[str]:
    """Paths of the files of packages NAME=VERSION or NAME in a directory. Raises DeviceError for a missing one."""
    found = []
    for package in packages:
        name, _sep, version = package.partition("=")
        pattern = (PATTERNS if version else ANY_PATTERNS)[manager].format(name=name, version=version)
        names = sorted(file for file in listing if fnmatchcase(file, pattern))
        if not names:
            message = f"{directory} has no file {pattern}; copy the vendor's packages of that version there"
            raise DeviceError(f"{message}, or change drawbridge_gpfs.software")
        found.append(f"{directory}/{names[-1]}")
    return found


def cluster_id(text: str) -> str:
    """Id of the cluster in a copy of its configuration (gen/mmsdrfs), empty if there is none.

    The first line's fields differ between releases, but the id is its only number of so many digits.
    """
    fields = text.partition("\n")[0].split(":")
    return next((field for field in fields if field.isdigit() and len(field) >= ID_DIGITS), "")

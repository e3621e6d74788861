# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How mm* commands write: the -Y form, percent-encoding, dates and columns."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

PROPAGATING = (
    "{}: Propagating the cluster configuration data to all\n  affected nodes.  This is an asynchronous process."
)
LICENSE_WARNING = (
    "{}: Warning: Not all nodes have proper GPFS license designations.\n"
    "    Use the mmchlicense command to designate licenses as needed."
)


def say(lines: Iterable[str], file: TextIO | None = None) -> None:
    """Print lines, none for none."""
    for line in lines:
        print(line, file=file)


def encode(value: object, also: str = "") -> str:
    """Percent-encode the field separator, the percent sign, and what this command encodes besides them."""
    return "".join(f"%{ord(char):02X}" if char in ":%" + also else char for char in str(value))


def header(command: str, record: str, names: str) -> str:
    """Return the line that names the fields of a record type; `names` are separated by blanks."""
    return f"{command}:{record}:HEADER:version:reserved:reserved:{':'.join(names.split())}:"


def row(command: str, record: str, values: Iterable[object], also: str = "") -> str:
    """Return one record."""
    return f"{command}:{record}:0:1:::{':'.join(encode(value, also) for value in values)}:"


def dated(now: float, line: str) -> str:
    """Return a progress line, which carries the date as `date` prints it."""
    return f"{time.strftime('%a %b %e %H:%M:%S %Z %Y', time.localtime(now))}: {line}"

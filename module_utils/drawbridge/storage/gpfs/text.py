# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine-readable form (-Y) of IBM Storage Scale's mm* commands.

A line is `command:type:HEADER|0:version:reserved:reserved:field:field:...:`. Headers name the fields of the rows of
their type. Rows may be longer or shorter than their header, so the parser takes fields by name, never from the right.
Types interleave, and names differ in case between releases. Values are percent-encoded, each command with characters of
its own. Banners and remote shells may print other lines in between.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

FIRST_FIELD = 6
"""Index of the first field that the header names: command, type, HEADER, version and two reserved come before."""
EXTRA = "_extra"

_HARMLESS = re.compile(r"Retrying|6027-1262")
"""Lines of a command that waits for the configuration lock and goes on."""


class UnreadableAnswer(ValueError):
    """The text has no answer; the message is the command's own."""


class Row(dict[str, str]):
    """Fields of one row by name in any case; surplus values are in `_extra`, absent fields are empty."""

    def __missing__(self, name: str) -> str:
        """Look up the name in lower case; a field that this release does not print is empty."""
        return self[name.lower()] if name != name.lower() else ""


def parse(text: str, command: str) -> dict[str, list[Row]]:
    """Rows by record type; a type with a header and no rows is an empty list, a valid answer.

    Raises UnreadableAnswer if there is no header, or if the command printed an error beside its answer.
    """
    headers: dict[str, list[str]] = {}
    rows: dict[str, list[Row]] = {}
    errors = []
    for line in text.splitlines():
        fields = line.split(":")
        if fields[0] != command:
            continue
        if len(fields) <= FIRST_FIELD:
            if not _HARMLESS.search(line):
                errors.append(":".join(fields[1:]).strip())
            continue
        kind, values = fields[1], _values(fields)
        if fields[2] == "HEADER":
            headers[kind] = [name.lower() for name in values]
            rows.setdefault(kind, [])
        elif kind in headers:
            rows[kind].append(_row(headers[kind], values))
    if errors:
        raise UnreadableAnswer(" ".join(errors))
    if not headers:
        raise UnreadableAnswer(f"{command} -Y printed no header")
    return rows


def _values(fields: list[str]) -> list[str]:
    """Decoded fields; the line's last colon is an end, not one more field."""
    end = len(fields) - 1 if fields[-1] == "" else len(fields)
    return [unquote(field) for field in fields[FIRST_FIELD:end]]


def _row(names: list[str], values: list[str]) -> Row:
    row = Row(zip(names, values))
    if len(values) > len(names):
        row[EXTRA] = ":".join(values[len(names) :])
    return row

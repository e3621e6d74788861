# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of perftest: ib_write_bw, ib_read_lat and their kin.

The client's output counts. A server ends with exit code 0 even if its client failed.
The table is read first, because its header has the unit. The JSON of `--out_json` has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..measure import Found, Measure, Missing
from .output import document, line_with, measured, not_recognised, number, part, stopped

MIB = 2**20 * 8 / 1e9
"""Gb in one MiB. Old releases of perftest write MB and mean MiB."""
_RATES = {"Gb/sec": 1.0, "MiB/sec": MIB, "MB/sec": MIB}
_BELOW_ITS_LIMIT = "Error: BW result is below bw limit"
"""The text of option -w. The rate was measured all the same."""
_COLUMN = re.compile(r"#\w+|(?:\d[\d.]*% percentile|[A-Za-z]\w*(?: \w+)?)(?:\[([^\]]*)\])?")
_MTU = re.compile(r"^ ?Mtu\s*:\s*(\d+)\[B\]", re.MULTILINE)
_FAILURES = (
    (re.compile(r"Failed status(?: 12:|-.*\(12\):)"), "packets are lost, or a hop has a smaller MTU"),
    (re.compile(r"Failed status"), "a transfer failed"),
    (re.compile(r"Failed to modify QP .* to RTR"), "no route to the peer's GID, or a wrong GID index"),
    (re.compile(r"Couldn't connect to"), "the server does not listen"),
    (re.compile(r"Unable to find the Infiniband|Did not detect devices"), "no RDMA device"),
    (re.compile(r"Unsupported memory type"), "this build of perftest cannot use GPU memory"),
    (re.compile(r"unrecognized option|Invalid Command"), "this release of perftest does not know an option"),
    (re.compile(r"Failed to exchange data"), "the peer ended early"),
)
"""Later patterns are more general."""


def measures(stdout: str, stderr: str, code: int, where: str, name: str) -> list[Found]:
    """The rate in Gb/s or the latency in us under `name`, then "path MTU" in bytes, which both ends negotiated.

    `stdout` is the client's output or the file of `--out_json`. With several sizes the last one counts.
    The latency is the median (t_typical); tests by duration print the mean alone.
    """
    below_its_limit = _BELOW_ITS_LIMIT in stderr
    why = stopped(code) or ("" if code == 0 or below_its_limit else _failure(stdout, stderr, code))
    found = Missing(name, where, why) if why else _value(stdout, stderr, code, where, name)
    mtu = _path_mtu(stdout, where)
    return [found, mtu] if isinstance(found, Measure) or isinstance(mtu, Measure) else [found]


def _failure(stdout: str, stderr: str, code: int) -> str:
    for pattern, meaning in _FAILURES:
        if hit := pattern.search(f"{stderr}\n{stdout}"):
            return f"{meaning} (exit code {code}): {line_with(hit[0], stderr, stdout)}"
    return not_recognised(code, stderr, stdout)


def _path_mtu(stdout: str, where: str) -> Found:
    """The MTU of the table's head or of the JSON."""
    if printed := _MTU.search(stdout):
        return measured("path MTU", printed[1], "bytes", where)
    try:
        return measured("path MTU", part(document(stdout), "test_info").get("Mtu"), "bytes", where)
    except ValueError:
        return Missing("path MTU", where, "perftest printed no MTU")


def _value(stdout: str, stderr: str, code: int, where: str, name: str) -> Found:
    if row := last_row(stdout):
        return _from_row(row, where, name)
    if stdout.startswith("{") or "\n{" in stdout:
        return _from_json(stdout, where, name)
    if "Waiting for client" in stdout:
        why = f"this is the server's output, whose exit code {code} proves nothing: the client never sent its result"
        return Missing(name, where, why)
    return Missing(name, where, not_recognised(code, stdout, stderr))


def last_row(stdout: str) -> dict[str, str]:
    """The table's last whole row by column with its unit, such as "BW average[Gb/sec]". Empty without one.

    Columns are separated by blanks and tabs in any number. A row that a dead process left unfinished is no row.
    """
    columns: list[str] = []
    found: dict[str, str] = {}
    for line in stdout.splitlines():
        cells = line.split()
        if cells[:1] == ["#bytes"]:
            columns, found = [match[0] for match in _COLUMN.finditer(line)], {}
        elif columns and len(cells) == len(columns) and cells[0].isdigit():
            found = dict(zip(columns, cells))
    return found


def _from_row(row: Mapping[str, str], where: str, name: str) -> Found:
    for column in ("t_typical[usec]", "t_avg[usec]"):
        if column in row:
            return measured(name, row[column], "us", where)
    for unit, scale in _RATES.items():
        if (column := f"BW average[{unit}]") in row:
            return measured(name, row[column], "Gb/s", where, scale)
    return Missing(name, where, f"no unit that is known in the columns {', '.join(row)}")


def _from_json(text: str, where: str, name: str) -> Found:
    try:
        results = part(document(text), "results")
    except ValueError as err:
        return Missing(name, where, f"invalid JSON, as perftest writes it with --output or when it dies: {err}")
    for key in ("t_typical", "t_avg"):
        if key in results:
            return measured(name, results[key], "us", where)
    scale = _scale(results)
    if not scale:
        return Missing(name, where, "the JSON has no unit, and its message rate does not show it")
    return measured(name, results.get("BW_average"), "Gb/s", where, scale)


def _scale(results: Mapping[str, Any]) -> float:
    """Gb/s for 1 of BW_average, from size and message rate in the same JSON. 0 if neither unit fits.

    The two units differ by a factor of 119, so rounding never makes the wrong one fit.
    """
    size, rate, value = (number(results.get(key)) for key in ("MsgSize", "MsgRate", "BW_average"))
    gbits = size * rate * 1e6 * 8 / 1e9
    return next((scale for scale in (1.0, MIB) if 0.5 * gbits < value * scale < 2 * gbits), 0.0)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of ethtool: counters (-S), the module of a port (-m), forward error correction (-I --show-fec)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_COUNTER = re.compile(r"^\s+(\S[^:]*): (\d+)\s*$")
_FIELD = re.compile(r"^\s*(\S.*?)\s*: (.*?)\s*$")
_FLAG = re.compile(r"(.*?) (high|low) (alarm|warning)\s*(?:\(Chan(?:nel)? (\d+)\))?")
_THRESHOLD = re.compile(r"(.*?) (high|low) (alarm|warning) threshold")
_OF_CHANNEL = re.compile(r"(.*?)\s*\(Channel (\d+)\)")
_VALUE = re.compile(r"(?:.* / )?(-?(?:\d+(?:\.\d+)?|inf)) (?:dBm|degrees [CF]|V|mA)$")
_THRESHOLD_OF = {
    "Module temperature": "Module temperature",
    "Rcvr signal avg optical power": "Laser rx power",
    "Receiver signal OMA": "Laser rx power",
    "Receiver signal average optical power": "Laser rx power",
    "Transmit avg optical power": "Laser output power",
    "Laser output power": "Laser output power",
}
"""Names of readings -> names of their thresholds."""
_LOST = ("Rx loss of signal", "Rx loss of lock", "Tx fault", "RX loss of signal", "TX fault")
NOT_SUPPORTED = "Operation not supported"
"""What ethtool says of a driver or a module without the data."""


@dataclass(frozen=True)
class Module:
    """A port's module. `alarms` and `warnings` are sentences; a module without optics has none."""

    kind: str
    """Such as "QSFP28"."""
    copper: bool
    optics: bool
    """Whether it measures its light."""
    alarms: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def counters(text: str) -> dict[str, int]:
    """Counters by name. Raises ValueError for other text."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "NIC statistics:":
        raise ValueError("no statistics")
    return {match[1]: int(match[2]) for line in lines if (match := _COUNTER.match(line))}


def uncorrectable_blocks(text: str) -> int | None:
    """Blocks that forward error correction could not repair, since boot; None: the driver does not count them.

    Raises ValueError for other text.
    """
    if not text.startswith("FEC parameters for "):
        raise ValueError("no parameters of FEC")
    match = re.search(r"^\s*uncorrectable_blocks: (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else None


def module(text: str) -> Module:
    """The module of a port. Raises ValueError for other text."""
    # a line without a value says nothing; of equal names the first counts
    fields = {match[1]: match[2] for line in text.splitlines()[::-1] if (match := _FIELD.match(line))}
    identifier = re.fullmatch(r"0x[0-9a-f]{2} \((.*)\)", fields.get("Identifier", ""))
    if not identifier:
        raise ValueError("no identifier of a module")
    copper = "copper" in fields.get("Transmitter technology", "").lower() or "Passive Cu cmplnce." in fields
    if copper or not any(_THRESHOLD_OF.get(_name(name)) == "Laser rx power" for name in fields):
        return Module(identifier[1], copper, optics=False)
    alarms, warnings = _flags(fields)
    return Module(identifier[1], False, True, (*alarms, *_beyond(fields, alarms), *_lost(fields)), warnings)


def _name(name: str) -> str:
    match = _OF_CHANNEL.fullmatch(name)
    return match[1] if match else name


def _flags(fields: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The module's own alarms and warnings that are on, channels folded: "Laser rx power low in channels 1, 3"."""
    found: dict[str, dict[str, list[str]]] = {"alarm": {}, "warning": {}}
    for name, value in fields.items():
        flag = _FLAG.fullmatch(name)
        if flag and value.lower() == "on":
            found[flag[3]].setdefault(f"{flag[1]} {flag[2]}", []).extend([flag[4]] if flag[4] else [])
    alarms, warnings = (
        tuple(_in_channels(what, channels) for what, channels in sorted(found[kind].items()))
        for kind in ("alarm", "warning")
    )
    # an alarm has its warning on too
    return alarms, tuple(text for text in warnings if text.split(" in channel")[0] not in found["alarm"])


def _in_channels(what: str, channels: list[str]) -> str:
    return f"{what} in channels {', '.join(sorted(channels))}" if channels else what


def _beyond(fields: Mapping[str, str], known: tuple[str, ...]) -> list[str]:
    """Readings beyond an alarm threshold, for modules and releases that print no flags."""
    limits = {
        (match[1], match[2]): _number(value)
        for name, value in fields.items()
        if (match := _THRESHOLD.fullmatch(name)) and match[3] == "alarm"
    }
    found: dict[str, list[str]] = {}
    for name, value in sorted(fields.items()):
        channel = _OF_CHANNEL.fullmatch(name)
        of, read = _THRESHOLD_OF.get(_name(name), ""), _number(value)
        low, high = (limits.get((of, side)) for side in ("low", "high"))
        # thresholds of a module without them are all 0, or -inf
        if read is None or low is None or high is None or low >= high:
            continue
        side = "low" if read < low else "high" if read > high else ""
        if side and not any(text.startswith(f"{of} {side}") for text in known):
            found.setdefault(f"{of} {side}", []).extend([channel[2]] if channel else [])
    return [_in_channels(what, channels) for what, channels in found.items()]


def _number(value: str) -> float | None:
    """dBm, degrees Celsius or volts of "0.9720 mW / -0.12 dBm" and "30.56 degrees C / 87.01 degrees F"."""
    first = value.split(" / ")[0] if "degrees C" in value else value
    match = _VALUE.search(first)
    return float(match[1]) if match else None


def _lost(fields: Mapping[str, str]) -> list[str]:
    """Losses of channels: "None", or "[ Yes, No, No, No ]"."""
    return [
        _in_channels(name, [str(at) for at, word in enumerate(re.findall(r"Yes|No", fields[name]), 1) if word == "Yes"])
        for name in _LOST
        if "Yes" in fields.get(name, "")
    ]

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which check a finding is of, and the address of its section in docs/guides/findings.md. Pure.

Texts name the part and the check: "rail3: rail link: mlx5_3 is down", "disk space: /tmp is full". Other programs that
find something have patterns.
"""

from __future__ import annotations

import re

PAGE = "https://github.com/drawbridge/drawbridge/blob/main/docs/guides/findings.md"
CHECKS: tuple[str, ...] = (
    *("rail link", "rail PCIe", "rail MTU", "rail GID", "optics", "rail errors", "rail drops"),
    *("GPUs present", "GPU product", "GPU instances", "GPU PCIe", "GPU link state", "GPU fabric", "GPU memory errors"),
    *("GPU memory rows", "GPU clocks", "GPU power limit", "GPU persistence", "GPU recovery", "GPU faults in the log"),
    *("rail rates", "GPU temperature", "GPU units", "clock", "memory size", "memory errors", "leaked memory"),
    *("disk state", "read-only file systems", "disk space"),
)
"""Names of rows, each with a section."""
OTHERS: tuple[tuple[str, str], ...] = (
    (r"/\S* is (not )?mounted\b.*", "Mounts"),
    (r"(un)?munge\b.*", "munge"),
    (
        r"[0-9]+ GPUs (in the (driver|kernel)'s list )?instead of .*|no GPU at /.*|GPU [0-9]+ has [0-9]+ instances .*",
        "Number of GPUs",
    ),
    (r"current_\w+_partition is .*", "GPU partition modes"),
    (r"60-passport: .*", "Passport"),
    (r"nhc: .*", "NHC"),
    (r"cordon: .*", "Cordons"),
    (r"[0-9]{2}-[\w-]+(: | ).*", "Parts"),
)
"""A pattern of the whole text, and the heading of its section."""
UNKNOWN = "Other findings"
"""The section of the rest: conditions of others, programs that hang, findings that were left out."""


def check(text: str) -> str:
    """The check that a finding's text names; empty for findings of other programs."""
    pieces = text.split(": ", 2)[:2]
    return next((piece for piece in pieces if piece in CHECKS), "")


def subject(text: str) -> str:
    """Part and check without the words that may change, so that two findings can be compared."""
    name = check(text)
    before, found, _words = text.partition(f"{name}: ") if name else text.partition(": ")
    return f"{before}{name}" if found else text


def heading(text: str) -> str:
    """The section that explains a finding."""
    other = (title for pattern, title in OTHERS if re.fullmatch(pattern, text, re.DOTALL))
    return check(text) or next(other, UNKNOWN)


def page(text: str) -> str:
    """The address of that section."""
    return f"{PAGE}#{re.sub(r'[^a-z0-9_ -]', '', heading(text).lower()).replace(' ', '-')}"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who drained a node of Slurm, by its drain reason: a part of Drawbridge, Slurm itself, or a person. Pure."""

from __future__ import annotations

from . import passport_io

PERSON, SLURM, PROOF = "person", "slurm", "proof"
STARTS = (
    (passport_io.REASON, PROOF),
    ("drawbridge: proof: ", PROOF),
    ("drawbridge: health: ", "health"),
    ("drawbridge gate: ", "gate"),
    ("drawbridge: prolog part 50-gate ", "gate"),
    ("drawbridge: epilog part 50-gate ", "gate"),
    ("drawbridge: prolog part ", "script"),
    ("drawbridge: epilog part ", "script"),
    ("drawbridge: joins, ", "onboarding"),
    ("drawbridge: hardware: ", "hardware"),
    ("drawbridge: maintenance ", "maintenance"),
    ("drawbridge: retires", "retirement"),
    ("drawbridge: is installed again", "reinstallation"),
    ("drawbridge ", "change"),
)
"""How reasons of Drawbridge's parts begin; the first that fits names the part.

A `change` is that of a layer which drains its node while it changes a daemon or mounts.
"""


def origin(reason: str, by: str, slurm_user: str = "slurm") -> str:
    """The part of Drawbridge that wrote the reason; else slurm for a reason of Slurm's own user, else person."""
    found = (part for start, part in STARTS if reason.startswith(start))
    return next(found, SLURM if by == slurm_user else PERSON)

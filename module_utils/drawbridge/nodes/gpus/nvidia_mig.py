# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances of NVIDIA's GPUs (MIG): profiles by product, from NVIDIA's guide and configurations of nvidia-mig-parted.

An instance of four eighths of the memory can begin at two places, one of four sevenths of the processors at one. The
last eighth belongs to instances of three or seven sevenths, or to one of one seventh with two eighths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .profiles import Divisible, Profile

INSTANCE = r"[1-7]g[.][0-9]{1,3}gb"
_SEVENTHS = {
    "1g": Profile(1, 1, tuple(range(7))),
    "1g twice": Profile(1, 2, (0, 2, 4, 6)),
    "2g": Profile(2, 2, (0, 2, 4)),
    "3g": Profile(3, 4, (0, 4)),
    "4g": Profile(4, 4, (0,)),
    "7g": Profile(7, 8, (0,)),
}
_QUARTERS = {"1g": Profile(1, 1, (0, 1, 2, 3)), "2g": Profile(2, 2, (0, 2)), "4g": Profile(4, 4, (0,))}


def _divisible(*names: str) -> Divisible:
    """A GPU of seven slices. Of two profiles with one slice of processors the second has twice the memory."""
    small = [name for name in names if name.startswith("1g")]
    places = {name: _SEVENTHS["1g twice" if name in small[1:] else name[:2]] for name in names}
    return Divisible(7, places)


def _quarters(*names: str) -> Divisible:
    """A GPU of four slices."""
    return Divisible(4, {name: _QUARTERS[name[:2]] for name in names})


_MODELS: Sequence[tuple[str, Divisible]] = (
    (r"A100.*40GB", _divisible("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")),
    (r"(A100|H100|A800|H800).*80GB.*", _divisible("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    (r"H[18]00 PCIe", _divisible("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    (r"H100 NVL", _divisible("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")),
    (r"H200( NVL)?", _divisible("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")),
    (r"B200", _divisible("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")),
    (r"GB200", _divisible("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb")),
    (r"B300.*", _divisible("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb")),
    # larger ones than three slices are not published
    (r"GB300", _divisible("1g.35gb", "2g.70gb", "3g.139gb")),
    (r"A30", _quarters("1g.6gb", "2g.12gb", "4g.24gb")),
    (r"RTX PRO 6000 Blackwell.*", _quarters("1g.24gb", "2g.48gb", "4g.96gb")),
)


def divisible(product: str) -> Divisible | None:
    """How GPUs of this product can be divided; None for one that is not in the table."""
    model = re.sub(r"^NVIDIA ", "", product)
    return next((found for pattern, found in _MODELS if re.fullmatch(pattern, model)), None)


KNOWN = ("A30", "A100", "H100", "H200", "B200", "GB200", "B300", "GB300", "RTX PRO 6000")
"""Models of the table, for people."""

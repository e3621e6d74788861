# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a proof of a node depends on, by name: the texts of files and tools as short values."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

DIGITS = 16


@dataclass(frozen=True)
class Asked:
    """What a node needs to judge its passport: the content of /etc/drawbridge/passport.json."""

    node: str
    intent: str
    """A digest of the node's intent."""
    most_days: int = 0
    """Age after which a passport is stale; 0: age does not matter."""
    rails: Mapping[str, str] = field(default_factory=dict)
    """RDMA device by network device."""
    driver: str = ""
    """File with the version of the GPUs' driver; empty for a node without GPUs."""
    gpus: str = ""
    """Files about GPUs, with `*`."""
    gpu_key: str = ""
    """Key in these files whose value no other GPU has; empty: the whole text is this value."""

    def text(self) -> str:
        """The file's content."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"

    @classmethod
    def parse(cls, text: str) -> Asked:
        """Read the file's content. Raises ValueError for another one."""
        try:
            return cls(**json.loads(text))
        except TypeError as err:
            raise ValueError(str(err)) from err


def digest(value: Any) -> str:
    """The first digits of a SHA-256."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class Texts:
    """Texts that were read on the node. One that can't be read is empty, and its value absent."""

    kernel: str = ""
    driver: str = ""
    gpus: Sequence[str] = ()
    """The driver's text about each GPU."""
    firmware: Mapping[str, str] = field(default_factory=dict)
    """By RDMA device."""
    neighbours: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Switch and port by network device."""


def values(asked: Asked, texts: Texts) -> dict[str, str]:
    """Values by name. One that is not known is absent."""
    found = {"intent": asked.intent, "kernel": texts.kernel, "GPU driver": texts.driver}
    found["GPUs"] = _gpus(texts.gpus, asked.gpu_key) if texts.gpus else ""
    for netdev, rdma in asked.rails.items():
        found[f"firmware of {rdma}"] = texts.firmware.get(rdma, "")
        found[f"cable of {netdev}"] = " ".join(texts.neighbours.get(netdev, ()))
    return {name: value.strip() for name, value in found.items() if value.strip()}


def _gpus(texts: Iterable[str], key: str) -> str:
    """Number and digest of the GPUs; empty unless each has an identity. A driver that sleeps writes question marks."""
    named = re.compile(rf"^{re.escape(key)}:\s*(\S+)\s*$" if key else r"^\s*(\S+)\s*$", re.MULTILINE)
    found = [match.group(1) if (match := named.search(text)) else "?" for text in texts]
    return "" if any("?" in one for one in found) else f"{len(found)} with digest {digest(sorted(found))}"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node looks at: the file that view `node_looks` derives. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ...proof.node import ProofNode

FILE = "/etc/drawbridge/health.json"


@dataclass(frozen=True)
class NodeSettings:
    """The node as its checks see it, and what the site adds."""

    node: ProofNode
    nhc: str = ""
    """Path of NHC; empty: it does not run."""
    limit_s: float | None = None
    """Seconds of a look at intervals; None: the program's own limit."""
    report_only: tuple[str, ...] = ()
    """Checks whose findings drain no node."""

    @classmethod
    def parse(cls, text: str) -> NodeSettings:
        """Read the file. Raises ValueError with a reason for any other text."""
        try:
            given = json.loads(text)
            limit = given.get("limit_s")
            return cls(
                ProofNode.from_dict(given["node"]),
                str(given.get("nhc", "")),
                None if limit is None else float(limit),
                tuple(given.get("report_only", ())),
            )
        except (LookupError, TypeError, AttributeError, ValueError) as err:
            raise ValueError(f"it has no settings of the node's health: {type(err).__name__}: {err}") from err

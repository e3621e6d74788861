# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The hand-over of a node to its vendor: texts that the controller has, and those of the node. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...core.printable import printable
from ...report.secrets import redacted
from .history import Entry

FACTS = "node-facts.txt"
ABOUT = (
    "Hand-over of {node}, made by drawbridge-health.",
    "",
    "findings.txt    findings now, since when, how often in 30 days, and reboots",
    "history.jsonl   findings, drains and reboots of the node; times are seconds since the epoch",
    "slurm.txt       the node's record in Slurm",
    "proof.json      the node's part of its last proof: verdict, measures with limits, findings",
    f"{FACTS}  the node's own texts",
    "",
    "Passwords, tokens and keys are replaced by <hidden>. Read the files before you send them.",
)
"""The README of the bundle."""


def texts(
    node: str, slurm: str, shown: Sequence[str], entries: Iterable[Entry], proof: Mapping[str, Any] | None, facts: str
) -> dict[str, str]:
    """Files of the bundle by name, without secrets. Parts that do not exist are left out."""
    about = "".join(f"{line}\n" for line in ABOUT if facts or not line.startswith(FACTS))
    found = {
        "README.txt": about.format(node=node),
        "findings.txt": "".join(f"{line}\n" for line in shown),
        "history.jsonl": "".join(f"{entry.line()}\n" for entry in entries if entry.node == node),
        "slurm.txt": slurm,
        "proof.json": f"{json.dumps(proof, indent=1)}\n" if proof else "",
        FACTS: facts,
    }
    return {name: redacted(printable(text)) for name, text in found.items() if text}


def of_proof(result: Mapping[str, Any], node: str) -> dict[str, Any] | None:
    """The node's part of the JSON of a proof; None if it has none."""
    verdicts = [it for it in result.get("nodes", ()) if it.get("name") == node]
    if not verdicts:
        return None
    parts = {key: [it for it in result.get(key, ()) if node in it.get("nodes", ())] for key in ("measures", "findings")}
    about = {key: result.get(key) for key in ("release", "cluster", "started", "ended", "complete")}
    return {**about, "verdict": verdicts[0], **parts}

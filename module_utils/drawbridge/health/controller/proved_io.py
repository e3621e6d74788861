# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm for a proof, whose nodes may have findings in their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...core import hostlist
from ...proof.run.slurm_io import SlurmCluster
from .records import NODES, nodes


class ReportingCluster(SlurmCluster):
    """A drain that a proof ends takes earlier findings out of the record.

    Otherwise the controller would drain a proved node for what it reported before. Its next check reports anew.
    """

    def resume(self, names: Sequence[str]) -> None:
        """End the drains of these nodes. The site's text and the controller's answer stay."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for node in nodes(self._run([*NODES]).out, {}) if names else ():
            if node.name in names:
                words = (f"comment={replace(node.report, findings=())}",) if node.report.findings else ()
                groups.setdefault(words, []).append(node.name)
        for words, some in groups.items():
            self._run(["scontrol", "update", f"nodename={hostlist.compress(some)}", "state=resume", *words])

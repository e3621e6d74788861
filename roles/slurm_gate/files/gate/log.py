# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One line of JSON for every transition and every refusal, to the system log and to Slurm's log."""

from __future__ import annotations

import contextlib
import json
import os
import syslog
from collections import Counter
from typing import Any

from .states import Edge, Owner

STDERR = 2


class Log:
    """Writes lines, and counts them for the metrics."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()

    def transition(self, edge: Edge, node: str, owner: Owner) -> None:
        """Log that a node changed its state."""
        self.event(edge.name, node=node, namespace=owner.namespace, job=owner.job, state=edge.after)

    def event(self, name: str, **fields: Any) -> None:
        """Log any other event."""
        self.counted[name] += 1
        self.write(json.dumps({"event": name, **fields}))

    def write(self, line: str) -> None:
        """Write a line to the system log and to standard error."""
        syslog.openlog("drawbridge-gate")
        syslog.syslog(syslog.LOG_NOTICE, line)
        with contextlib.suppress(OSError):  # the parent, which reads it, may have died
            os.write(STDERR, f"{line}\n".encode())

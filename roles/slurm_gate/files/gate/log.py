# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One line of JSON for every transition and every refusal, to the system's log; the same line to Slurm's."""

from __future__ import annotations

import json
import sys
import syslog
from typing import Any

from .config import Job


def transition(state: str, node: str, job: Job) -> None:
    """Note that a node changed its state."""
    event(state, node=node, namespace=job.owner.namespace, job=job.owner.job)


def event(name: str, **fields: Any) -> None:
    """Note anything else."""
    line = json.dumps({"event": name, **fields})
    syslog.openlog("drawbridge-gate")
    syslog.syslog(syslog.LOG_NOTICE, line)
    print(line, file=sys.stderr)

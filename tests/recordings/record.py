# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A callback that records a run's results for tests of reports; README.md beside it says how."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.run_event import event

DOCUMENTATION = r"""
name: record
type: aggregate
short_description: Records a run's results
description: [The results of a run as gzipped JSON, without what modules were called with.]
options:
  into:
    description: The file.
    type: path
    required: true
    env:
      - name: DRAWBRIDGE_RECORD
"""

DROPPED = {"invocation", "diff", "warnings", "ansible_facts"}
"""Keys that no report reads; they would make a recording large."""


class CallbackModule(CallbackBase):
    """Keeps all results, and writes them at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "record"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._events: list[dict[str, Any]] = []

    def _keep(self, kind: str, result: Any) -> None:
        found = asdict(event(kind, result))
        found["result"] = {key: value for key, value in found["result"].items() if key not in DROPPED}
        self._events.append(found)

    def v2_runner_on_ok(self, result: Any) -> None:
        self._keep("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._keep("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._keep("unreachable", result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        text = json.dumps(self._events, default=str, indent=0, sort_keys=True)
        Path(self.get_option("into")).write_bytes(gzip.compress(text.encode(), mtime=0))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Print the result of each task as one line of JSON."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.callback import CallbackBase
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import data_of, host_of, task_of

DOCUMENTATION = r"""
name: outcomes
type: stdout
short_description: Print the result of each task as one line of JSON
description: For the differential test, which compares what two runs did.
author: Drawbridge contributors (@drawbridge)
options: {}
"""


class CallbackModule(CallbackBase):
    """One line for each host and task."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "outcomes"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._play = ""

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play = play.get_name().strip()

    def v2_runner_on_ok(self, result: Any) -> None:
        self._say(result, "ok")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._say(result, "skipped")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._say(result, "failed")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._say(result, "ignored" if ignore_errors else "failed")

    def _say(self, result: Any, state: str) -> None:
        found = data_of(result)
        items = [str(item.get("msg", "")) for item in found.get("results") or [] if isinstance(item, dict)]
        said = "\n".join([str(found.get("msg", "")), *items])
        task = task_of(result)
        line = {"play": self._play, "task": task.get_name(), "action": task.action, "host": host_of(result)}
        print(json.dumps({**line, "state": state, "said": said}), flush=True)

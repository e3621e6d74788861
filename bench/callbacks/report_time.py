# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A callback that measures another one: the processor time of this thread while the report has it."""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: report_time
type: aggregate
short_description: Measures what the report costs
description: [Processor seconds of drawbridge.drawbridge.report by method, as JSON in the file that REPORT_TIME names.]
"""
BEGUN = time.thread_time()
# its import is a part of its cost
report = importlib.import_module("ansible_collections.drawbridge.drawbridge.plugins.callback.report")

SPENT = {"import": time.thread_time() - BEGUN}


def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, with its time added to SPENT."""

    @functools.wraps(method)
    def inner(*words: Any, **named: Any) -> Any:
        begun = time.thread_time()
        try:
            return method(*words, **named)
        finally:
            SPENT[name] = SPENT.get(name, 0.0) + time.thread_time() - begun

    return inner


MAIN = os.getpid()
"""Workers are forked from it, and end without a report."""
# Ansible imports each file of the folder, also those that are not enabled
PLACE = os.environ.get("REPORT_TIME", "")
if PLACE:
    for key, value in list(vars(report.CallbackModule).items()):
        if key.startswith("v2_"):
            setattr(report.CallbackModule, key, timed(key, value))
    atexit.register(lambda: os.getpid() == MAIN and Path(PLACE).write_text(json.dumps(SPENT)))


class CallbackModule(CallbackBase):
    """Has been there; that is all."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "report_time"
    CALLBACK_NEEDS_ENABLED = True

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests at the price of a fork: a process that has imported the libraries once, and nothing of the project.

Runs in a scratch copy, so that tests import from the copy. Reads a request a line (JSON: tests, all, timeout_s) and
answers each with the list of results. The answer is null when the tests ran out of time, or their process died.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import get_config

LIBRARIES = ("ansible.module_utils.basic", "ansible.module_utils.testing", "asyncssh", "hier_config", "jsonpatch")
LIBRARIES += ("netmiko", "yaml", "ansible.plugins.action", "ansible.plugins.callback", "xml.etree.ElementTree")
LIBRARIES += ("ansible.executor.task_queue_manager", "ansible.template", "ansible.plugins.loader", "ansible.cli")
LIBRARIES += ("hypothesis", "hypothesis.internal.conjecture.engine", "_hypothesis_pytestplugin", "pdb")
LOG = Path("jury.log")


class Witness:
    """A pytest plugin that notes every phase of every test."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str, str]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """A test's phase is over."""
        report = yield
        self.seen.append((report.nodeid, report.when, report.outcome, call.excinfo.typename if call.excinfo else ""))
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file could not be read."""
        if report.failed:
            self.seen.append((report.nodeid, "collect", report.outcome, ""))


def hear(tests: list[str], all: bool, timeout_s: float) -> list[Any] | None:
    """Run tests in a process of their own, to the end or to the first failure. None if that takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        _testify(tests, all, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        ended = select.select([pipe], [], [], timeout_s)[0]
        told = pipe.read() if ended else ""
    os.killpg(child, signal.SIGKILL)  # what a test has started and left behind goes too
    os.waitpid(child, 0)
    return json.loads(told) if told else None


def _testify(tests: list[str], all: bool, writing: int) -> None:
    """The child: it ends here, whatever happens."""
    try:
        log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        witness = Witness()
        # libraries that are here before pytest can't have their assertions rewritten, and need not
        options = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        # these tests need one installed plugin; to look for others takes longer than many a test
        options += ["--disable-plugin-autoload", "-p", "_hypothesis_pytestplugin"]
        # files of tests lie in the copy: where all sessions have theirs, each would tidy up after all others
        options.append("--basetemp=jury.tmp")
        pytest.main([*options, *([] if all else ["--exitfirst"]), *tests], plugins=[witness])
        with os.fdopen(writing, "w") as pipe:
            json.dump(witness.seen, pipe)
        signal.pause()  # the parent sweeps the whole group
    finally:
        os._exit(1)


def main() -> None:
    """Answer until there are no more requests."""
    for name in LIBRARIES:
        importlib.import_module(name)
    get_config()  # imports pytest's own plugins
    gc.freeze()  # or each child would search all of it for garbage, and by that copy it
    for line in sys.stdin:
        print(json.dumps(hear(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

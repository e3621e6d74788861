# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A playbook through ansible-runner, as a program would run it: every event is handed over while the playbook runs.

LAB_ID=2 .venv/bin/python -m tests.collection.stream playbooks/site.yml    # the whole site, on a lab that is up
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ansible_runner

from tests.collection.installed import BIN, ROOT

Event = dict[str, Any]


def stream(playbook: str, private: Path, consume: Callable[[Event], None], **settings: Any) -> Any:
    """Run a playbook of this tree with the tree's own settings, runner's files in `private`; return its Runner."""

    def handler(event: Event) -> bool:
        consume(event)
        return True

    return ansible_runner.run(
        private_data_dir=str(private),
        project_dir=str(ROOT),
        inventory=str(ROOT / "inventories/lab"),
        playbook=playbook,
        envvars={"PATH": f"{BIN}:{os.environ['PATH']}", "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        event_handler=handler,
        quiet=True,
        **settings,
    )


def line(event: Event) -> str:
    """One line for one result, nothing for other events."""
    kind, data = event["event"], event["event_data"]
    if not kind.startswith("runner_on_") or kind == "runner_on_start":
        return ""
    word = "changed" if data.get("res", {}).get("changed") else kind.removeprefix("runner_on_")
    return f"{word:12} {data['host']:8} {data['task']}"


def main(playbook: str, *options: str) -> int:
    """Print a line for each result as it comes, then what came of each host."""
    start = time.monotonic()

    def show(event: Event) -> None:
        if text := line(event):
            print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory() as private:
        runner = stream(playbook, Path(private), show, cmdline=shlex.join(options))
        print(f"{runner.status}, rc {runner.rc}: {runner.stats}")
        return runner.rc or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Report of a run: what changed, waits, was refused or failed, as sentences."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: Prints what a run did, as sentences, and writes it as JSON and as a page
version_added: 0.1.0
author: Drawbridge contributors (@drawbridge)
description:
  - Prints the steps of a run by layer and host, pending steps with their reason, and refusals with the line to add.
    Failures have their cause and the next command. The same step of many hosts is one line with a hostlist.
  - Tasks that only read are not named.
  - A report holds no diff and no arguments of modules. Text that looks like a secret is replaced.
requirements:
  - Name it in the configuration, C(callbacks_enabled=drawbridge.drawbridge.report).
options:
  text:
    description:
      - Whether to print the report at the end of the run.
      - Nothing is printed if the run's standard output is JSON (C(ansible.posix.json), C(ansible.posix.jsonl)).
    type: bool
    default: true
    env:
      - name: DRAWBRIDGE_REPORT_TEXT
    ini:
      - section: callback_report
        key: text
  json:
    description:
      - File for the report as JSON. Its folder is made.
      - In check mode, a report in this file from an earlier check is compared. The new report then names new steps.
    type: path
    env:
      - name: DRAWBRIDGE_REPORT_JSON
    ini:
      - section: callback_report
        key: json
  folder:
    description:
      - Folder that keeps the last 50 reports as JSON, one file for each run. C(drawbridge status) reads them there.
      - A run in check mode is not kept.
    type: path
    env:
      - name: DRAWBRIDGE_REPORT_FOLDER
    ini:
      - section: callback_report
        key: folder
  html:
    description: File for the report as one HTML page that loads nothing else.
    type: path
    env:
      - name: DRAWBRIDGE_REPORT_HTML
    ini:
      - section: callback_report
        key: html
  junit:
    description: File for the report as JUnit XML, with one test case for each host and layer that has a finding.
    type: path
    env:
      - name: DRAWBRIDGE_REPORT_JUNIT
    ini:
      - section: callback_report
        key: junit
  metrics:
    description: File for counts of a run in check mode, for the textfile collector of Prometheus' node exporter.
    type: path
    env:
      - name: DRAWBRIDGE_REPORT_METRICS
    ini:
      - section: callback_report
        key: metrics
"""

EXAMPLES = r"""
# ansible.cfg: a report at the end of every run, and a page
#   [defaults]
#   callbacks_enabled = drawbridge.drawbridge.report
#   [callback_report]
#   html = /var/lib/drawbridge/last-run.html
"""

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from ansible import constants, context
from ansible.plugins.callback import CallbackBase

from ..module_utils.drawbridge.core.hostlist import in_order
from ..module_utils.drawbridge.report.collect import Event, Finding, findings
from ..module_utils.drawbridge.report.command import shown
from ..module_utils.drawbridge.report.files_io import earlier, keep, write
from ..module_utils.drawbridge.report.fold import Run, compared, document, fold
from ..module_utils.drawbridge.report.formats import as_json, as_junit, as_metrics
from ..module_utils.drawbridge.report.page_io import as_page
from ..module_utils.drawbridge.report.sentences import text
from ..plugin_utils.internals import inventory_of, inventory_sources, playbook_file
from ..plugin_utils.inventories import plain
from ..plugin_utils.releases import data_of, host_of
from ..plugin_utils.run_event import event
from ..plugin_utils.variable_files import file_faults, variable_files

FORMATS = {"json": as_json, "html": as_page, "junit": as_junit, "metrics": as_metrics}

OPTIONS = Path(__file__).parents[2] / "meta/options.yml"
"""The playbooks' options, by name."""
MACHINES = ("json", "jsonl")
"""Callbacks whose output programs read."""


def _stdout() -> str:
    """The callback that writes standard output."""
    return str(constants.config.get_config_value("DEFAULT_STDOUT_CALLBACK"))


class CallbackModule(CallbackBase):
    """Collects during the run, and reports at its end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "drawbridge.drawbridge.report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._findings: list[Finding] = []
        self._hosts: set[str] = set()
        self._proved: set[str] = set()
        self._playbook = ""
        self._started = 0.0
        self._plays: list[tuple[str, float]] = []

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Several playbooks of one command are one run with the name of the first."""
        if not self._playbook:
            self._playbook, self._started = playbook_file(playbook).name, time.time()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        if not self._plays:
            self._name_unreadable(play)
        self._plays.append((play.get_name().strip(), time.time()))

    def _name_unreadable(self, play: Any) -> None:
        """Print the file and line that Ansible can't read, before it ends the run without these."""
        inventory = inventory_of(play.get_variable_manager())
        roots = [path if path.is_dir() else path.parent for path in map(Path, inventory_sources(inventory))]
        # as Ansible's own loader reads them next, so that none is read twice
        for fault in file_faults(play.get_loader(), variable_files(roots, [])):
            self._display.error(str(fault), wrap_text=False)

    def v2_runner_on_ok(self, result: Any) -> None:
        self._hosts.add(host_of(result))
        # most results only read
        data = data_of(result)
        if data.get("proved"):
            self._proved.add(host_of(result))
        if data.get("changed") or data.get("pending") or data.get("layers"):
            self.take(event("ok", result))

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._hosts.add(host_of(result))
        if not ignore_errors:
            self.take(event("failed", result))

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._hosts.add(host_of(result))
        self.take(event("unreachable", result))

    def take(self, found: Event) -> None:
        """Keep what the result says."""
        self._findings += findings(found)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Print and write. With several playbooks each does so, and the last has all."""
        report = self._report()
        if self.get_option("text") and _stdout().rpartition(".")[2] not in MACHINES:
            self._display.display("")
            for line in text(report):
                self._display.display(line)
        for option, rendered in FORMATS.items():
            if path := self.get_option(option):
                write(Path(path), rendered(report))
        if (folder := self.get_option("folder")) and not report["check"]:
            keep(Path(folder), f"{report['started'].replace(':', '')}-{self._playbook}.json", as_json(report))

    def _report(self) -> dict[str, Any]:
        now = time.time()
        ends = [*(start for _unused, start in self._plays[1:]), now][: len(self._plays)]
        plays = [(name, end - start) for (name, start), end in zip(self._plays, ends, strict=True)]
        check = bool(context.CLIARGS.get("check"))
        started = datetime.fromtimestamp(self._started, UTC).isoformat(timespec="seconds")
        seconds = now - self._started
        command = shown(sys.argv, yaml.safe_load(OPTIONS.read_text()))
        names, proved = (in_order(sorted(found)) for found in (self._hosts, set() if check else self._proved))
        sources = context.CLIARGS.get("inventory") or ()
        inventory = ", ".join(map(plain, [sources] if isinstance(sources, str) else sources))
        run = Run(self._playbook, check, command, started, seconds, plays, len(self._hosts), names, proved, inventory)
        report = document(run, fold(self._findings))
        last = earlier(self.get_option("json")) if check else None
        return compared(report, last) if last else report

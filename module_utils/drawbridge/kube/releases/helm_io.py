# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Helm, as far as it tells the truth: what a chart is, what it renders to, what helm remembers, and its upgrade.

Its own comparison is not used: helm compares values with the ones that it remembers, not objects with what they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import yaml

from ...core.command import Command, Completed, Run
from ...core.converge import DeviceError
from .plan import Record

Json = dict[str, Any]
RUN_S, UPGRADE_S = 120, 900
HISTORY = 5
"""Revisions that helm keeps."""
UNFINISHED = {
    "pending-install": "uninstall",
    "pending-upgrade": "rollback",
    "pending-rollback": "rollback",
    "uninstalling": "uninstall",
}
"""What a run of helm leaves that did not get to its end, and the command without which no other upgrade begins."""
ANY_STATUS = ("--deployed", "--failed", "--pending", "--superseded", "--uninstalled", "--uninstalling")
KINDS_AT_ONCE = 500


@dataclass(frozen=True)
class Source:
    """Where a chart comes from: a path or oci:// address, or a name in the repository at `repo`."""

    chart: str
    name: str
    version: str
    repo: str = ""

    def argv(self) -> list[str]:
        """The chart as helm's commands take it."""
        return [self.chart, "--version", self.version, *(("--repo", self.repo) if self.repo else ())]


def commands(timeout_s: float, stdin: str | None = None) -> Run:
    """Commands as they are run outside of tests."""
    return Command(timeout_s, stdin)


class Helm:
    """One release of one chart."""

    def __init__(
        self,
        program: str,
        kubeconfig: str,
        release: str,
        namespace: str,
        source: Source,
        runs: Callable[[float, str | None], Run] = commands,
    ) -> None:
        self._program, self._runs = program, runs
        self._where = ["--kubeconfig", kubeconfig, "--namespace", namespace]
        self._release, self._source = release, source

    def verify(self) -> None:
        """The chart is the one that was meant: a path holds whatever somebody has put there. Raises DeviceError."""
        source = self._source
        about = yaml.safe_load(self._run(["show", "chart", *source.argv()]).out)
        found = f"{about['name']} {about['version']}"
        if found != f"{source.name} {source.version}":
            raise DeviceError(
                f"the chart at {source.chart!r} is {found}, but {source.name} {source.version} is pinned; fetch that "
                f"release: helm pull {source.name} --version {source.version}"
            )

    def rendered(self, values: Mapping[str, Any], kubernetes: str, api_versions: Sequence[str], there: bool) -> str:
        """The chart's objects as text, hooks and definitions of kinds among them."""
        argv = ["template", self._release, *self._source.argv(), *self._where, "--values", "-", "--include-crds"]
        argv += ["--kube-version", kubernetes, *(["--is-upgrade"] if there else [])]
        # one argument may have 128 KiB, and large clusters know thousands of kinds
        for start in range(0, len(api_versions), KINDS_AT_ONCE):
            argv += ["--api-versions", ",".join(api_versions[start : start + KINDS_AT_ONCE])]
        return self._run(argv, values).out

    def record(self) -> Record | None:
        """What helm remembers of the release. Raises DeviceError for one that helm would not upgrade any more."""
        argv = ["list", *self._where, *ANY_STATUS, "--filter", f"^{self._release}$", "--output", "json"]
        found = json.loads(self._run(argv).out)
        if not found:
            return None
        self._refuse_unfinished(found[0]["status"])
        values = json.loads(self._run(["get", "values", self._release, *self._where, "--output", "json"]).out)
        return Record(found[0]["chart"], values or {}, found[0]["status"])

    def _refuse_unfinished(self, status: str) -> None:
        if status in UNFINISHED:
            command = " ".join([self._program, UNFINISHED[status], self._release, *self._where])
            raise DeviceError(
                f"helm has release {self._release} as {status}: it is at it now, or was cut off, and till then refuses "
                f"every other upgrade; if no helm runs, end what it began and run this again: {command}"
            )

    def upgrade(self, values: Mapping[str, Any]) -> None:
        """Install or upgrade. Definitions of kinds are not helm's: it makes them once and never looks again."""
        argv = ["upgrade", "--install", self._release, *self._source.argv(), *self._where, "--values", "-"]
        argv += ["--reset-values", "--skip-crds", "--history-max", str(HISTORY)]
        self._run(argv, values, UPGRADE_S)

    def _run(self, argv: Sequence[str], values: Mapping[str, Any] | None = None, timeout_s: float = RUN_S) -> Completed:
        stdin = None if values is None else json.dumps(values)
        return self._runs(timeout_s, stdin)([self._program, *argv])

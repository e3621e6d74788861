# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Helm's commands: a chart's name and version, its rendered objects, helm's record of the release, and its upgrade.

Helm's own comparison is not used: it compares values with its record, not objects with the cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from ...core.api.kubeconfig import GROUPS
from ...core.command import Command, Completed, Run
from ...core.converge import DeviceError
from ...core.libraries import library
from ...core.names import INSTALLER_USER
from .plan import Record

if TYPE_CHECKING:
    import yaml
else:
    yaml = library("yaml")

Json = dict[str, Any]
RUN_S, UPGRADE_S = 120, 900
HISTORY = 5
UNFINISHED = {
    "pending-install": "uninstall",
    "pending-upgrade": "rollback",
    "pending-rollback": "rollback",
    "uninstalling": "uninstall",
}
"""Status after an interrupted run of helm -> the command that makes an upgrade possible again."""
ANY_STATUS = ("--deployed", "--failed", "--pending", "--superseded", "--uninstalled", "--uninstalling")
KINDS_AT_ONCE = 500
Runs = Callable[[float, "str | None"], Run]
"""From a time limit in seconds and an input to what runs a command."""


@dataclass(frozen=True)
class Source:
    """A chart: a path or oci:// address, or a name in the repository at `repo`."""

    chart: str
    name: str
    version: str
    repo: str = ""

    def argv(self) -> list[str]:
        """The arguments for helm."""
        return [self.chart, "--version", self.version, *(("--repo", self.repo) if self.repo else ())]


def pinned(source: Source, digest: str, program: str, scratch: Path, runs: Runs = Command) -> Source:
    """The packed chart as a file of this digest, pulled into `scratch` if it is elsewhere. Raises DeviceError.

    Helm compares a chart with no digest: whoever writes to the repository would choose what runs in the cluster.
    """
    file = Path(source.chart)
    if source.repo or "://" in source.chart:
        runs(RUN_S, None)([program, "pull", *source.argv(), "--destination", str(scratch)])
        file = next(scratch.glob("*.tgz"))
    try:
        found = hashlib.sha256(file.read_bytes()).hexdigest()
    except IsADirectoryError as err:
        raise DeviceError(
            f"the chart at {source.chart!r} is a folder, which has no digest; name the packed chart"
        ) from err
    except OSError as err:
        raise DeviceError(f"the chart at {source.chart!r} can't be read: {err}") from err
    if found != digest.removeprefix("sha256:"):
        where = source.repo or source.chart
        raise DeviceError(
            f"the chart {source.name} {source.version} at {where!r} has the digest sha256:{found}, but {digest} is "
            "pinned; fetch the vendor's file, or pin its digest"
        )
    return Source(str(file), source.name, source.version)


class Helm:
    """One release of one chart."""

    def __init__(
        self,
        program: str,
        kubeconfig: str,
        release: str,
        namespace: str,
        source: Source,
        runs: Runs = Command,
    ) -> None:
        self._program, self._runs = program, runs
        groups = [word for group in GROUPS for word in ("--kube-as-group", group)]
        self._where = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--kube-as-user", INSTALLER_USER, *groups]
        self.release, self._source = release, source

    def verify(self) -> None:
        """Check the name and version of the chart at the path. Raises DeviceError."""
        source = self._source
        about = yaml.safe_load(self._run(["show", "chart", *source.argv()]).out)
        found = f"{about['name']} {about['version']}"
        if found != f"{source.name} {source.version}":
            raise DeviceError(
                f"the chart at {source.chart!r} is {found}, but {source.name} {source.version} is pinned; fetch that "
                f"release: helm pull {source.name} --version {source.version}"
            )

    def rendered(self, values: Mapping[str, Any], kubernetes: str, api_versions: Sequence[str], exists: bool) -> str:
        """The chart's objects as text, with hooks and CustomResourceDefinitions."""
        argv = ["template", self.release, *self._source.argv(), *self._where, "--values", "-", "--include-crds"]
        argv += ["--kube-version", kubernetes, *(["--is-upgrade"] if exists else [])]
        # one argument may have 128 KiB, and large clusters have thousands of kinds
        for start in range(0, len(api_versions), KINDS_AT_ONCE):
            argv += ["--api-versions", ",".join(api_versions[start : start + KINDS_AT_ONCE])]
        return self._run(argv, values).out

    def record(self) -> Record | None:
        """Helm's record of the release. Raises DeviceError for a release that helm refuses to upgrade."""
        argv = ["list", *self._where, *ANY_STATUS, "--filter", f"^{self.release}$", "--output", "json"]
        found = json.loads(self._run(argv).out)
        if not found:
            return None
        status = found[0]["status"]
        if status in UNFINISHED:
            command = " ".join([self._program, UNFINISHED[status], self.release, *self._where])
            raise DeviceError(
                f"helm has release {self.release} as {status}: it runs now or was interrupted, and refuses "
                f"upgrades; if no helm runs, run this first: {command}"
            )
        values = json.loads(self._run(["get", "values", self.release, *self._where, "--output", "json"]).out)
        return Record(found[0]["chart"], values or {}, status)

    def upgrade(self, values: Mapping[str, Any]) -> None:
        """Install or upgrade, without CustomResourceDefinitions: helm creates these once and never updates them."""
        argv = ["upgrade", "--install", self.release, *self._source.argv(), *self._where, "--values", "-"]
        argv += ["--reset-values", "--skip-crds", "--history-max", str(HISTORY)]
        self._run(argv, values, UPGRADE_S)

    def _run(self, argv: Sequence[str], values: Mapping[str, Any] | None = None, timeout_s: float = RUN_S) -> Completed:
        stdin = None if values is None else json.dumps(values)
        return self._runs(timeout_s, stdin)([self._program, *argv])

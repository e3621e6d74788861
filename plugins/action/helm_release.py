# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install, upgrade and repair a chart's release; runs where the kubeconfig and helm are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.converge import DeviceError, converge
from ..module_utils.drawbridge.kube.releases.helm_io import Helm, Source, pinned
from ..module_utils.drawbridge.kube.releases.io import HelmRelease
from ..module_utils.drawbridge.kube.releases.plan import Record, Release, plan

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "required": True},
    "chart": {"type": "str", "required": True},
    "version": {"type": "str", "required": True},
    "source": {"type": "str", "required": True},
    "digest": {"type": "str", "default": ""},
    "values": {"type": "dict", "default": {}},
    "kubeconfig": {"type": "path", "required": True},
    "helm": {"type": "path", "default": "helm"},
}


class ActionModule(ActionBase):
    """Reads every object of the chart; writes those that differ."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return steps and diff."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        source = source_of(args["source"], args["chart"], args["version"])
        try:
            with TemporaryDirectory(prefix="drawbridge-chart-") as scratch:
                if args["digest"]:
                    source = pinned(source, args["digest"], args["helm"], Path(scratch))
                helm = Helm(args["helm"], args["kubeconfig"], args["name"], args["namespace"], source)
                result |= release(connect(args["kubeconfig"]), helm, args, bool(self._task.check_mode))
        except DeviceError as err:
            result |= {"failed": True, "changed": False, "msg": str(err), **err.details}
        return result


def source_of(given: str, name: str, version: str) -> Source:
    """The chart's source: a path, a folder of an OCI registry, or a repository."""
    if given.startswith("oci://"):
        return Source(f"{given.rstrip('/')}/{name}", name, version)
    if given.startswith(("http://", "https://")):
        return Source(name, name, version, given)
    return Source(given, name, version)


def release(ask: Ask, helm: Helm, args: dict[str, Any], check: bool) -> dict[str, Any]:
    """Converge. Raises DeviceError."""
    want = Release(Record(f"{args['chart']}-{args['version']}", args["values"]))
    outcome = converge(HelmRelease(ask, helm, args["namespace"], args["values"]), plan, want, check=check)
    return {**outcome.result(), "failed": bool(outcome.error)}

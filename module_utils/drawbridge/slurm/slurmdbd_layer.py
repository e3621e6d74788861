# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmdbd and its configuration, which may be the site's still and holds the database's password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.command import Command
from ..core.consent import VARIABLES_ARGUMENT
from ..core.converge import DeviceError
from ..core.daemon.plan import DaemonState
from ..core.file_entry import DAEMON_FILES_ARGUMENT, Entry, entries, paths
from ..core.layer import Layer, Params, Unknown, Work
from ..core.units import Unit
from . import secret_text
from .takeover import report, suggestion
from .takeover.configuration_io import Configured
from .takeover.io import Site
from .takeover.plan import TakeoverState, plan

SPEC: dict[str, Any] = {
    "files": DAEMON_FILES_ARGUMENT,
    "passwords": {"type": "dict", "default": {}, "no_log": True},
    "may_drop": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}
UNIT = "slurmdbd.service"


def work(params: Params, check: bool) -> Work[DaemonState]:
    """The unit and its files."""
    unit = Unit(UNIT, Command(timeout_s=120))
    if not unit.read().installed:
        raise Unknown(f"{UNIT} is not installed yet")
    secrets = {key: str(value) for key, value in params["passwords"].items() if value}
    if error := secret_text.impossible(secrets):
        raise DeviceError(error)
    files, passive = entries(params["files"])
    files = {path: _known(entry, secrets) for path, entry in files.items()}
    want = TakeoverState(UNIT, files, passive=passive, once=paths(params["files"], "once"))
    daemon = Configured(unit, want, site=Site(secrets=secrets))
    return Work(
        *(daemon, plan, want),
        error_of=lambda error: report.with_refusal(error, daemon.taken_over, params["may_drop"], suggestion.intent),
        shown=lambda: report.text(daemon.taken_over, suggestion.intent),
    )


def _known(entry: Entry, secrets: Mapping[str, str]) -> Entry:
    """The file without lines for passwords that are not given."""
    return (
        entry if entry.content is None else replace(entry, content=secret_text.without_places(entry.content, secrets))
    )


SLURMDBD_CONFIG = Layer(SPEC, work)

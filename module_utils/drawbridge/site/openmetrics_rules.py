# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of slurmctld's OpenMetrics: its release has them, and their readers get an answer."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.faults import Fault
from ..slurm.config.settings import preset
from ..slurm.model import Slurm
from ..telemetry.model import SlurmMetrics, Telemetry
from .openmetrics import READERS, TOKENS, TYPE, has, lines

_KEY, _SETTINGS = "drawbridge_telemetry.slurm", "drawbridge_slurm.settings"
_PRIVATE = ("account", "all", "event", "job", "node", "partition", "reservation", "usage", "user")
"""Words of PrivateData. slurmctld looks for them anywhere in the value."""
_CLOSED, _NO_HTTP = "PrivateData", "disable_http"


def openmetrics_need_their_release(slurm: Slurm, telemetry: Telemetry) -> Iterator[Fault]:
    """slurmctld does not start with a key that it does not know."""
    metrics, release = telemetry.slurm, slurm.version
    if metrics.openmetrics and not has(slurm, TYPE):
        reason = f"Slurm {release} has no OpenMetrics, which came with 25.11"
        repair = "write false, and a program of Drawbridge measures Slurm"
        yield Fault(f"{_KEY}.openmetrics", True, reason, repair)
    elif metrics.openmetrics and metrics.readers and not has(slurm, READERS):
        reason = f"Slurm {release} has no {READERS}, which came with 26.05"
        yield Fault(f"{_KEY}.readers", [*metrics.readers], reason, "remove readers, and all may read the metrics")
    elif not metrics.openmetrics:
        for key in ("readers", "everyone"):
            if value := getattr(metrics, key):
                reason = "it is about OpenMetrics, and openmetrics is false"
                yield Fault(f"{_KEY}.{key}", value, reason, f"set openmetrics: true, or remove {key}")


def openmetrics_have_readers(slurm: Slurm, telemetry: Telemetry) -> Iterator[Fault]:
    """slurmctld refuses all but root and its own user if data are private, or if it knows no key of tokens."""
    metrics, later = telemetry.slurm, has(slurm, READERS)
    if not (metrics.openmetrics and has(slurm, TYPE)):
        return
    private = any(word in slurm.settings.get(_CLOSED, "").lower() for word in _PRIVATE)
    if private and not later:
        reason = f"with drawbridge_slurm.settings.{_CLOSED} Slurm {slurm.version} closes them to all"
        yield Fault(f"{_KEY}.openmetrics", True, reason, "write false, or set another release")
    elif private and not (metrics.readers or metrics.everyone):
        reason = f"with drawbridge_slurm.settings.{_CLOSED} slurmctld refuses all but root and its own user"
        yield Fault(f"{_KEY}.openmetrics", True, reason, "set readers, or everyone: true")
    if later and metrics.readers:
        yield from _tokens(slurm, metrics)
    if _NO_HTTP in slurm.settings.get("CommunicationParameters", "").lower().split(","):
        value = slurm.settings["CommunicationParameters"]
        reason = "slurmctld would answer no request for metrics"
        yield Fault(f"{_SETTINGS}.CommunicationParameters", value, reason, f"remove {_NO_HTTP}")


def _tokens(slurm: Slurm, metrics: SlurmMetrics) -> Iterator[Fault]:
    if metrics.everyone:
        reason = f"slurmctld ignores it beside {READERS}, which readers sets"
        yield Fault(f"{_KEY}.everyone", True, reason, "write false, or remove readers")
    if TOKENS not in slurm.settings:
        reason = f"slurmctld accepts no token without {TOKENS}"
        key = f"{preset(slurm.settings, 'StateSaveLocation')}/jwt_hs256.key"
        repair = f"set {_SETTINGS}.{TOKENS}: jwt_key={key}, and put a key there"
        yield Fault(f"{_KEY}.readers", [*metrics.readers], reason, repair)


def openmetrics_are_set_once(slurm: Slurm, telemetry: Telemetry) -> Iterator[Fault]:
    """A line of the site's own would win silently."""
    for key, value in lines(telemetry.slurm).items():
        own = slurm.settings.get(key, value)
        if own != value:
            reason = f"{_KEY} sets it to {value}"
            yield Fault(f"{_SETTINGS}.{key}", own, reason, f"remove {key} here")


RULES = (openmetrics_need_their_release, openmetrics_have_readers, openmetrics_are_set_once)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenMetrics of slurmctld: an expansion of drawbridge_telemetry into drawbridge_slurm.

From src/slurmctld/http.c and src/common/read_config.c of Slurm 25.11.7 and 26.05.3.
"""

from __future__ import annotations

from dataclasses import replace

from ..slurm.config.words import KEYS, known
from ..slurm.model import Slurm
from ..telemetry.model import SlurmMetrics, Telemetry

TYPE, READERS, PARAMETERS = "MetricsType", "MetricsAuthUsers", "MetricsParameters"
TOKENS = "SlurmctldHttpAuthParameters"
"""The site's key, with which slurmctld verifies tokens of readers."""


def openmetrics(slurm: Slurm, telemetry: Telemetry) -> Slurm:
    """Slurm with the lines of its metrics, as far as its release knows them and the site has no own ones."""
    new = {key: value for key, value in lines(telemetry.slurm).items() if key not in slurm.settings}
    new = {key: value for key, value in new.items() if has(slurm, key)}
    return replace(slurm, settings={**slurm.settings, **new}) if new else slurm


def lines(metrics: SlurmMetrics) -> dict[str, str]:
    """The lines of slurm.conf for these metrics, without regard to the release."""
    if not metrics.openmetrics:
        return {}
    return {
        TYPE: "metrics/openmetrics",
        **({READERS: ",".join(metrics.readers)} if metrics.readers else {}),
        **({PARAMETERS: "ignore_private_data"} if metrics.everyone else {}),
    }


def has(slurm: Slurm, key: str) -> bool:
    """Whether the release knows the key."""
    return key.lower() in known(KEYS, slurm.version)

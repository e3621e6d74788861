# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is next and who is preempted, as slurm.conf's settings."""

from __future__ import annotations

from ..model import Slurm
from .text import Record


def priority(slurm: Slurm) -> Record:
    """Priorities by account and QOS. Jobs that are preempted end: a suspended one would keep its pods and GPUs."""
    weights = slurm.priority
    return {
        "PriorityType": "priority/multifactor",
        "PriorityWeightFairshare": weights.fair_share_weight,
        "PriorityWeightQOS": weights.qos_weight,
        "PriorityWeightAge": weights.age_weight,
        "PriorityWeightJobSize": weights.size_weight,
        "PriorityMaxAge": weights.max_age,
        "PriorityDecayHalfLife": weights.half_life,
        "PriorityCalcPeriod": weights.recount_minutes,
        "PreemptType": "preempt/qos",
        "PreemptMode": slurm.preempt_mode.upper(),
    }

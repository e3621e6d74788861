# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The partition in which measurements run: an expansion of drawbridge_proof into drawbridge_slurm."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from ..core.faults import Fault, IntentError
from ..nodes.model import Nodes
from ..proof.model import Proof
from ..proof.reserved import RESERVATION
from ..slurm.accounting.model import Qos
from ..slurm.model import Partition, Slurm

PARTITION = RESERVATION
"""Its partition, reservation and QOS have one name, and so do its jobs."""
_SETTINGS = MappingProxyType({"RootOnly": "YES", "Hidden": "YES", "OverSubscribe": "EXCLUSIVE"})


def proof_partition(slurm: Slurm, nodes: Nodes, proof: Proof) -> Slurm:
    """Slurm with a partition of all nodes for root's measurements, and a QOS that all others preempt.

    Raises IntentError if the site's own has that name.
    """
    taken = [part.name for part in slurm.partitions] + [qos.name for qos in slurm.qos]
    if PARTITION in taken:
        reason, repair = "drawbridge_proof needs this name for its own", "give it another name"
        raise IntentError([Fault("drawbridge_slurm.partitions", PARTITION, reason, repair)])
    # not expanded: many views of a host are made of Slurm's part of the intent
    names = ",".join(part.names for part in nodes.ranges)
    own = Partition(PARTITION, names, max_time="4:00:00", priority_tier=0, settings=_SETTINGS)
    qos = tuple(replace(it, preempt=(*it.preempt, PARTITION)) for it in slurm.qos)
    patrol = Qos(PARTITION, preempt_mode="cancel")
    return replace(slurm, partitions=(*slurm.partitions, own), qos=(*qos, patrol) if proof.patrols else slurm.qos)

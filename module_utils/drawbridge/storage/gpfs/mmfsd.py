# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What mmfsd, the daemon of GPFS, can be, and what it takes while it runs."""

from __future__ import annotations

ACTIVE, DOWN, UNKNOWN = "active", "down", "unknown"
"""States as mmgetstate prints them."""
IMMEDIATE = frozenset(
    (
        *("ignorePrefetchLUNCount", "maxMBpS", "nsdBufSpace", "readReplicaPolicy", "systemLogLevel"),
        *("unmountOnDiskFail", "verbsRdmaRoCEToS"),
    )
)
"""Attributes that mmchconfig -i sets in running daemons. pagepool could be too, but not while RDMA is used."""

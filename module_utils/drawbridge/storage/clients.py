# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of shared file systems, each by its half on a node: its layers, and what earlier releases placed there.

This is the one list of them. A visit carries it to nodes. The other half of a kind, in kinds.py, stays on controllers.
"""

from __future__ import annotations

from .gpfs import client as gpfs
from .nfs import client as nfs

CLIENTS = {"gpfs": gpfs, "nfs": nfs}
"""By the name of the kind, which is that of its folder, of its variable and of its role: `drawbridge_<kind>`,
`<kind>_client`."""

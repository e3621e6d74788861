# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a new cluster, and what follows from a state.

Knobs for tests and `lab` sit beside the data; each is named in `default_state`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

FOUNDER = "nsd1"
CLUSTER = "drawbridge-lab."
"""Start of every cluster's name; the founder's follows."""
IDS = {FOUNDER: "5617289051275609157"}


def default_state(founder: str = FOUNDER) -> dict[str, Any]:
    """Return a cluster of one founding member that serves file system fs1."""
    return {
        "version": "5.2",  # generation of the commands' output: 5.1, 5.2 or 6.0
        "truncated": [],  # commands whose -Y answer ends in the middle of a line
        "noise": "",  # a line that a remote shell's banner puts on stdout
        "lag_calls": 1,  # mm* calls on a joined host before its own copy of the configuration arrives
        "arbitrating_polls": 1,  # times that a starting node is seen arbitrating
        "request_timeout_s": 10.0,  # how long a command waits for the other hosts that it gave work to
        "change_takes_s": 0.0,  # how long a change of the configuration holds the lock
        "lock_timeout_s": 60.0,
        "lock_held_until": 0.0,  # a foreign holder of the lock, by the lab's clock
        "unreachable": [],  # hosts that don't answer the admin's shell
        "flapping": [],  # hosts whose daemon comes up and goes down again
        "quorum_lost": False,
        "quota_rc0": False,  # quota commands that fail end with 0, as those of some builds do
        "quota_banner": True,  # mmrepquota prints its line of asterisks
        "unsupported_kernels": [],  # kernels for which the kernel modules don't compile
        "without_packages": [],
        "foreign": [],  # hosts of another cluster
        "admin_nodes": [founder],
        "name": f"{CLUSTER}{founder}",
        "id": IDS.get(founder) or str(10**18 + sum(ord(char) << 7 * at for at, char in enumerate(founder))),
        "primary": founder,
        "nodes": {founder: new_member(1, founder, founder, "quorumManager", "server")},
        "next_number": 2,
        "autoload": [founder],  # nodes on which GPFS starts at boot, besides those with the attribute autoload
        "filesystems": {
            "fs1": {"mount_point": "/gpfs/fs1", "automatic": "no", "maintenance": "no", "block_size": 4 << 20}
        },
        "daemons": {founder: {"state": "active", "polls": 0}},
        "boots": {},
        "mounts": {"fs1": {}},
        "io": {},  # by node, file system and keyword of mmpmon: value, gain in a second, and when it had the value
        "waiters": {},  # by node: name of a thread, seconds for which it waits, and the reason
        "pushes": {founder: 0},
        "removals": [],
        "unconfigured": [],  # members that have lost their copy of the configuration
        "leftovers": [],  # hosts that were deleted and still have a copy of it
        "config": [{"name": "adminMode", "value": "central", "scope": []}],
        "classes": {},
        "key": {"generation": 1, "committed": 1},
        "auth": {},
        "remote_clusters": {},
        "remote_filesystems": {},
        "requests": {},
        "next_request": 1,
    }


def new_member(number: int, name: str, admin: str, designation: str, license_: str) -> dict[str, Any]:
    """Return a member."""
    return {
        "number": number,
        "daemon": name,
        "admin": admin,
        "ip": addresses().get(name, ""),
        "designation": designation,
        "license": license_,
    }


def addresses() -> dict[str, str]:
    """Return the addresses of the hosts that this one can resolve."""
    found = {}
    for line in Path(os.environ.get("LAB_HOSTS_FILE", "/etc/hosts")).read_text().splitlines():
        fields = line.partition("#")[0].split()
        for name in fields[1:]:
            if not fields[0].startswith(("127.", "::1")):
                found.setdefault(name, fields[0])
    return found


def local_copy(state: dict[str, Any]) -> str:
    """Return what a member keeps on its own disk: here, which cluster it belongs to."""
    return f"%%9999%%:00_VERSION_LINE::{state['id']}:{state['name']}\n"


def public_key(state: dict[str, Any], generation: int) -> str:
    """Return a generation of a cluster's public key."""
    return f"clusterName={state['name']}\nclusterID={state['id']}\ngenNumber={generation}\n"

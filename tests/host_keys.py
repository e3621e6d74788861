# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""New machines under old names: a host or switch of the lab comes back with nothing of before, and another host key."""

from __future__ import annotations

import subprocess

from tests.running import Lab
from tests.stack import lab as run


def replace(lab: Lab, name: str) -> str:
    """Boot it in factory state with a new key, which known_hosts does not have. Returns the key's fingerprint."""
    known, path = lab.paths.known_hosts.read_text(), lab.paths.host_key(name)
    path.unlink()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    told = subprocess.run(["ssh-keygen", "-lf", str(path)], check=True, capture_output=True, text=True)
    run("reset", name)
    lab.paths.known_hosts.write_text(known)
    return told.stdout.split()[1]

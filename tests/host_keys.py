# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""New machines under old names: a host or switch of the lab comes back with nothing of before, and another host key."""

from __future__ import annotations

import subprocess
import sys

from lab.hosts.paths import REPOSITORY
from tests.running import Lab

BOOT_S = 900


def replace(lab: Lab, name: str) -> str:
    """Boot it in factory state with a new key, which known_hosts does not have. Returns the key's fingerprint."""
    known, path = lab.paths.known_hosts.read_text(), lab.paths.host_key(name)
    path.unlink()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    told = subprocess.run(["ssh-keygen", "-lf", str(path)], check=True, capture_output=True, text=True)
    argv = [sys.executable, "lab/lab", "reset", name]
    subprocess.run(argv, cwd=REPOSITORY, check=True, capture_output=True, timeout=BOOT_S)
    lab.paths.known_hosts.write_text(known)
    return told.stdout.split()[1]

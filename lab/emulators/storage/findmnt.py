# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""findmnt of a host whose GPFS is a bind mount: for a path of GPFS it says what a client of Storage Scale says.

On a client of Storage Scale, `findmnt -T /gpfs/fs1 -n -o FSTYPE,SOURCE` prints `gpfs   fs1`: type and device of the
file system, as /proc/mounts has them.
"""

from __future__ import annotations

import re
import subprocess

from ..common import REFUSE, Call, host_device

REAL = "/usr/bin/findmnt"
_BIND = re.compile(r"\[\S*/fs/(\w+)\]$|^gpfs-(\w+)(?:\[|$)")
"""The source of a bind mount of the lab's shared folder, and that of a fileset."""


def main(name: str, argv: list[str]) -> int:
    """Answer for a path of GPFS (-T PATH -n -o COLUMNS), and let the real tool answer all other calls.

    It refuses as for a path that nothing has mounted: exit code 1, no output.
    """
    with Call(host_device("findmnt"), name, argv) as call:
        if call.fault(writes=False) == REFUSE:
            call.rc = 1
            return 1
        device = _device(argv[1]) if len(argv) == 5 and argv[0] == "-T" and argv[2:4] == ["-n", "-o"] else ""
        if not device:
            call.rc = subprocess.run([REAL, *argv], check=False).returncode
            return call.rc
        columns = {"FSTYPE": "gpfs", "SOURCE": device}
        print(" ".join(columns.get(column, "") for column in argv[4].split(",")))
    return 0


def _device(path: str) -> str:
    """The file system's device, such as fs1; empty for another mount."""
    asked = subprocess.run([REAL, "-T", path, "-n", "-o", "SOURCE"], check=False, capture_output=True, text=True)
    found = _BIND.search(asked.stdout.strip())
    return (found[1] or found[2]) if found else ""

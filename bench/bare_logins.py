# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bare netmiko logins, with the reads that Drawbridge makes: `python -m bench.bare_logins SWITCHES.json`.

What a script without Ansible does: 16 at a time, each logs in and sends the system's show commands. Nothing is parsed.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import netmiko

AT_ONCE = 16


def read(switch: dict[str, Any]) -> int:
    """The length of all answers of one switch."""
    with netmiko.ConnectHandler(**switch["login"], read_timeout_override=120) as connection:
        if switch["enables"]:
            connection.enable()
        return sum(len(str(connection.send_command(line))) for line in switch["reads"])


def main() -> int:
    """Read all switches."""
    switches = json.loads(Path(sys.argv[1]).read_text())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lengths = list(pool.map(read, switches))
    print(len(lengths), sum(lengths))
    return 0


if __name__ == "__main__":
    sys.exit(main())

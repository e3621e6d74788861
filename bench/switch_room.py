# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Many emulated switches of one system in one process: `python -m bench.switch_room eos FOLDER leaf1 leaf2 ...`.

FOLDER has the keys `host`, and `user.pub` for logins. The first line of output is JSON: the port of each switch.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path

from lab.emulators.common import Device
from lab.emulators.fabric.__main__ import system as emulated
from lab.emulators.fabric.server import Keys, serve

ADDRESS, PORTS = "127.0.0.1", 8
ASICS = {"nvue": "spectrum", "nxos": "cloudscale", "junos": "tomahawk3"}


async def main(system: str, folder: Path, names: list[str]) -> None:
    """Serve until a signal ends this process."""
    kind = emulated(system)
    keys, ports = Keys(folder / "host", folder / "user.pub"), {}
    async with contextlib.AsyncExitStack() as stack:
        for name in names:
            device = Device(folder / name, folder / "clock")
            switch = kind.make(device, name, ASICS.get(system, "xgs"), PORTS, ADDRESS)
            ports[name] = await stack.enter_async_context(serve(switch, ADDRESS, 0, keys))
        print(json.dumps(ports), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))

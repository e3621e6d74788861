# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program of an emulated switch: `python -m lab.emulators.fabric eos --name leaf1 --listen 10.77.1.41:22 ...`."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from importlib import import_module
from pathlib import Path

from lab.emulators.common import Device
from lab.emulators.fabric.server import Keys, serve
from lab.emulators.fabric.switch import EmulatedSwitch
from lab.emulators.proof.traffic import switch_device


def system(name: str) -> type[EmulatedSwitch]:
    """Return the switch of a system, by the name of its package here."""
    return import_module(f"lab.emulators.fabric.{name}.switch").Switch


def _arguments(kind: type[EmulatedSwitch], words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Emulate {kind.__doc__}")
    parser.add_argument("--name", required=True, help="host name of a new switch")
    parser.add_argument("--listen", required=True, metavar="ADDRESS:PORT", help="port 0: any free one")
    parser.add_argument("--directory", required=True, type=Path, help="where the switch keeps what it is")
    parser.add_argument("--clock", type=Path, help="file with the lab clock's offset in seconds")
    parser.add_argument("--host-key", required=True, type=Path, help="the switch's private key, OpenSSH format")
    parser.add_argument("--authorized-key", required=True, type=Path, help="public keys that may log in, as any user")
    parser.add_argument("--platform", choices=kind.platforms, default=kind.platforms[0])
    parser.add_argument("--release", default="", help="what a new switch runs, such as 5.9.0 or 202405.1")
    parser.add_argument("--port-count", type=int, default=32, help="ports of a new switch")
    parser.add_argument("--shared", type=Path, help="the directory that all hosts share, for emulated traffic")
    parser.add_argument("--neighbors", type=Path, help='JSON, {"Ethernet1": ["gpu01", "rail0"]}: what LLDP sees')
    return parser.parse_args(words)


async def main(name: str, words: list[str]) -> None:
    """Serve until a signal."""
    kind = system(name)
    options = _arguments(kind, words)
    address, _, port = options.listen.rpartition(":")
    device = Device(options.directory, options.clock)
    switch = kind.make(device, options.name, options.platform, options.port_count, address, options.release)
    if options.neighbors:
        switch.cable(json.loads(options.neighbors.read_text()))
    if options.shared:
        switch.show_to(switch_device(options.shared, options.name))
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve(switch, address, int(port), Keys(options.host_key, options.authorized_key)) as bound:
        print(f"{options.name} listens on {address}:{bound}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))

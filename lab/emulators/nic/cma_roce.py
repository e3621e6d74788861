# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""cma_roce_mode and cma_roce_tos of mlnx-tools: defaults of connections made through RDMA-CM.

Both are shell scripts that don't check their own writes: they print the value in force and exit 0 either way.
"""

from __future__ import annotations

import getopt
import os
import sys
from typing import Any

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, boot_id, host_device, sysfs

MODES = {"1": "IB/RoCE v1", "2": "RoCE v2"}


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("cma_roce")
    with Call(device, name, argv) as call:
        flag = "-m" if name == "cma_roce_mode" else "-t"
        options = {"-d": "mlx5_0", "-p": "1", **dict(getopt.getopt(argv, "d:p:" + flag[1] + ":")[0])}
        effect = call.fault(writes=flag in options)
        with device.state({"ports": {}}) as state:
            call.rc = _run(name, options["-d"], options["-p"], options.get(flag), state, effect)
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _run(name: str, rdma: str, port: str, wanted: str | None, state: dict[str, Any], effect: str | None) -> int:
    refusal = _refusal(rdma, port, effect)
    if refusal:
        print(*refusal, sep="\n")
        return 1
    if state.get("boot_id") != boot_id():
        state.update(boot_id=boot_id(), ports={})
    values = state["ports"].setdefault(f"{rdma}/{port}", {"cma_roce_mode": MODES["2"], "cma_roce_tos": 0})
    if wanted is not None and effect != LIE:
        trouble = _write(name, wanted, values)
        if trouble:
            print(f"/usr/sbin/{name}: {trouble}", file=sys.stderr)
    print(values[name])
    if effect == DRIFT:
        values.update(cma_roce_mode=MODES["1"], cma_roce_tos=0)
    return 0


def _refusal(rdma: str, port: str, effect: str | None) -> list[str]:
    """Return the lines of a refusal, none when the command may go on. Rail N of the host is RDMA device mlx5_N."""
    if os.geteuid() != 0:
        return ["You must be root to run this"]
    number = rdma[len("mlx5_") :] if rdma.startswith("mlx5_") else ""
    if effect == REFUSE or not number or not (sysfs() / f"class/net/rail{number}").exists():
        print(f"mkdir: cannot create directory '{rdma}': No such device", file=sys.stderr)
        return [f"Failed to create configuration for {rdma}"]
    return [] if port == "1" else [f"Device {rdma} port {port} does not exist"]


def _write(name: str, wanted: str, values: dict[str, Any]) -> str:
    """Set the value; return what the shell says on stderr when it doesn't take. Modes but 1 and 2 are ignored."""
    if name == "cma_roce_mode":
        values[name] = MODES.get(wanted, values[name])
        return ""
    try:
        tos = int(wanted)
    except ValueError:
        return f"line 109: [: {wanted}: integer expression expected"
    if tos > 255:
        return "line 110: echo: write error: Numerical result out of range"
    values[name] = tos if tos >= 0 else values[name]
    return ""

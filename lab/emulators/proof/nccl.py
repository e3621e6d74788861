# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""all_reduce_perf of nccl-tests 2.19.6: alone on the GPUs of a node, or a rank of several that Slurm starts.

Each rank tells the lab what its node is like, and ends; rank 0 waits for all of them and prints the result. Texts and
file: src/util.cu and src/common.cu of NVIDIA/nccl-tests. The environment counts: NCCL_ALGO, NCCL_IB_HCA, NCCL_IB_TC,
NCCL_IB_GID_INDEX, NCCL_TESTS_SPLIT, NCCL_TESTS_MIN_BW and NCCL_DEBUG=INFO. A fault's effect `lie` is a full rate on any
node.
"""

from __future__ import annotations

import getopt
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from ..common import DIE, EFFECTS, LIE, REFUSE, Call, Killed
from ..nodes.nvidia_smi import BUSES, NAME
from . import node, physics, traffic

POLL_S = 0.05
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
NOT_IMPLEMENTED, NCCL_FAILED, TOO_SLOW = 5, 3, 7
GPUS = (
    "Invalid number of GPUs: {} requested but only {} were found.\n"
    "Please check the number of processes and GPUs per process."
)
FAILED = (
    "{host}: Test NCCL failure common.cu:1234 'remote process exited or there was a network error / {why}'\n"
    " .. {host} pid {pid}: Test failure common.cu:1421"
)
NO_RANKS = "unhandled system error (run with NCCL_DEBUG=INFO for details)"
COMPLETION = (
    "NET/IB : Got completion from peer 10.77.1.22<40000> with status=12 opcode=32600 len=32601 vendor err 129 (Recv)"
)
SIDE, UNITS_OF_SIDE = "  {:>7}  {:>6}  {:>6}  {:>6} ", ("(us)", "(GB/s)", "(GB/s)", "")
LEFT = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}"
HEAD = "\n".join(
    (
        "#",
        LEFT.format("", "", "", "", "") + f"           out-of-place{'':23}in-place          ",
        LEFT.format("size", "count", "type", "redop", "root")
        + SIDE.format("time", "algbw", "busbw", "#wrong")[:-1]
        + SIDE.format("time", "algbw", "busbw", "#wrong"),
        LEFT.format("(B)", "(elements)", "", "", "") + SIDE.format(*UNITS_OF_SIDE)[:-1] + SIDE.format(*UNITS_OF_SIDE),
    )
)


class Rank(NamedTuple):
    """A task as Slurm starts it; alone without Slurm."""

    number: int
    of: int
    local: int
    job: str

    @classmethod
    def here(cls) -> Rank:
        """Return this task."""
        number = {name: int(os.environ.get(f"SLURM_{name}") or 0) for name in ("PROCID", "LOCALID", "NTASKS")}
        job = f"{os.environ.get('SLURM_JOB_ID', '')}.{os.environ.get('SLURM_STEP_ID', '')}"
        return cls(number["PROCID"], max(1, number["NTASKS"]), number["LOCALID"], job)


def main(call: Call) -> int:
    """Run one rank and return its exit code."""
    effect = call.fault(writes=False, among=EFFECTS)
    pairs, _rest = getopt.gnu_getopt(call.argv, "t:g:b:e:i:f:n:m:w:N:p:I:K:c:o:d:r:z:y:T:hG:C:a:R:x:D:V:J:S:M:u:")
    options, rank = {key[1:]: value for key, value in pairs}, Rank.here()
    mine = _mine(rank, int(options.get("g", 1)))
    if rank.of > 1:
        _publish(rank, mine)
    if mine["lacks"]:
        print(GPUS.format(*mine["lacks"]), file=sys.stderr)
        return NOT_IMPLEMENTED
    if os.environ.get("NCCL_DEBUG") == "INFO":
        print(*_info(mine, alone=rank.of == 1), sep="\n", flush=True)
    if rank.number:
        return 0
    return _result(call, options, _gathered(rank) if rank.of > 1 else [mine], effect)


def _mine(rank: Rank, gpus: int) -> dict[str, Any]:
    """Return what other nodes must know of this one."""
    own, found = node.planted(), len(node.gpus())
    needed = rank.local * gpus + gpus
    tclass, index = int(os.environ.get("NCCL_IB_TC") or 0), int(os.environ.get("NCCL_IB_GID_INDEX") or 3)
    rails = node.rails(tclass >> 2, index, os.environ.get("NCCL_IB_HCA", ""))
    return {
        "host": node.hostname(),
        "pid": os.getpid(),
        "gpus": gpus,
        "first": rank.local * gpus,
        "lacks": [needed, found] if needed > found else [],
        "nvls": own.get("nvls", True),
        "links_down": max([gpu.get("links_down", 0) for gpu in own.get("gpus", {}).values()], default=0),
        "ends": [end._asdict() for end in rails] if not rank.local else [],
    }


def _publish(rank: Rank, mine: dict[str, Any]) -> None:
    with traffic.device().state(traffic.EMPTY) as state:
        state["ranks"].setdefault(rank.job, {})[str(rank.number)] = mine


def _gathered(rank: Rank) -> list[dict[str, Any]]:
    """Wait for all ranks, as NCCL does, and return what they said in their order."""
    while True:
        with traffic.device().state(traffic.EMPTY) as state:
            found = state["ranks"].get(rank.job, {})
            if len(found) >= rank.of:
                del state["ranks"][rank.job]
                return [found[str(at)] for at in range(rank.of)]
        time.sleep(POLL_S)


def _result(call: Call, options: dict[str, str], ranks: list[dict[str, Any]], effect: str | None) -> int:
    if any(it["lacks"] for it in ranks):
        print(FAILED.format(host=ranks[0]["host"], pid=os.getpid(), why=NO_RANKS), file=sys.stderr)
        return NOT_IMPLEMENTED
    rate, why = _rate(ranks, options, honest=effect != LIE)
    if effect == REFUSE:
        why = NO_RANKS
    print(*_opening(call.tool, options, ranks), sep="\n", flush=True)
    if why == physics.HANG:
        why = COMPLETION
    if why:
        print(FAILED.format(host=ranks[0]["host"], pid=os.getpid(), why=why), file=sys.stderr)
        return NCCL_FAILED
    file = _Report(options.get("J", ""), call, ranks)
    rows = [_row(size, rate, sum(it["gpus"] for it in ranks)) for size in _sizes(options)]
    print(*(row["text"] for row in rows), sep="\n", flush=True)
    if effect == DIE:
        file.write(rows, whole=False)
        raise Killed
    file.write(rows, whole=True)
    least = float(os.environ.get("NCCL_TESTS_MIN_BW") or -1)
    verdict = "" if least < 0 else "OK" if file.average(rows) >= 0.9 * least else "FAILED"
    print(f"# {'Out of bounds values':<20} : 0 OK\n# {'Avg bus bandwidth':<20} : {file.average(rows):g} {verdict}")
    print(f"#\n# Collective test concluded: {call.tool}\n#\n")
    return TOO_SLOW if verdict == "FAILED" else 0


def _rate(ranks: list[dict[str, Any]], options: dict[str, str], *, honest: bool) -> tuple[float, str]:
    """Return GB/s of bus bandwidth, or why there is none."""
    hosts = list(dict.fromkeys(it["host"] for it in ranks))
    gpus = sum(it["gpus"] for it in ranks) // len(hosts)
    nvls = all(it["nvls"] for it in ranks) or not honest
    inside = physics.node_bus(gpus, nvls=nvls, links_down=max(it["links_down"] for it in ranks) if honest else 0)
    if len(hosts) == 1:
        return node.noisy(inside, "nccl"), ""
    nodes = [[physics.End(**{**end, "pcie": tuple(end["pcie"])}) for end in it["ends"]] for it in ranks if it["ends"]]
    tclass = int(os.environ.get("NCCL_IB_TC") or 0)
    found = physics.rings(nodes, traffic.switches(), tclass >> 2, traffic.slow())
    if not honest:
        found = [physics.Outcome(gbps=physics.PORT_GBPS * 0.97) for _rail in found]
    linked = [it for it in found if it]
    failed = next((it.failure for it in linked if it.failure), "" if linked else physics.NO_ROUTE)
    if failed:
        return 0.0, physics.HANG if failed in (physics.HANG, physics.LOST) else NO_RANKS
    if os.environ.get("NCCL_TESTS_SPLIT"):
        slowest = min(it.gbps for it in linked)
        seconds = [1 / (it.gbps if it else slowest / 2) for it in found]
        how = {"0": seconds[0], "2": min(seconds), "3": max(seconds)}
        time_of = how.get(options.get("a", "1"), sum(seconds) / len(seconds))
        return node.noisy(physics.fabric_bus(1 / time_of, 1, len(hosts), 1, tree=False), "nccl"), ""
    tree = os.environ.get("NCCL_ALGO", "") != "Ring"
    least = min(it.gbps for it in linked)
    rate = physics.fabric_bus(least, len(linked), len(hosts), gpus, tree=tree)
    return node.noisy(min(rate, physics.NVLS_GB_S * 2 if tree else inside), "nccl"), ""


def _bytes(text: str) -> int:
    unit = UNITS.get(text[-1:].upper(), 1)
    return int(text if unit == 1 else text[:-1]) * unit


def _sizes(options: dict[str, str]) -> list[int]:
    least, most = (_bytes(options.get(key, default)) for key, default in (("b", "32M"), ("e", "32M")))
    factor, step = int(options.get("f", 1)), _bytes(options.get("i", "1M"))
    found = [least]
    while found[-1] < most:
        found.append(found[-1] * factor if factor > 1 else found[-1] + step)
    return [size for size in found if size <= most] or [least]


def _figure(value: float, width: int) -> str:
    return next(
        text for text in (f"{value:.{digits}f}" for digits in (2, 1, 0)) if len(text) <= width or text.isdigit()
    )


def _row(size: int, bus: float, ranks: int) -> dict[str, Any]:
    """Return the row of one size: as text, and as the file has it."""
    factor = 2 * (ranks - 1) / ranks if ranks > 1 else 1.0
    sides, cells = {}, f"{size:>12}  {size // 4:>12}  {'float':>8}  {'sum':>6}  {-1:>6}"
    for side, share in (("out_of_place", 1.0), ("in_place", 1.001)):
        alg = bus * share / factor
        seconds = size / alg / 1e3
        cells += f"  {_figure(seconds, 7):>7}  {_figure(alg, 6):>6}  {_figure(bus * share, 6):>6}  {0:>6}"
        sides[side] = {"time": seconds, "alg_bw": alg, "bus_bw": bus * share, "nwrong": 0.0}
    about = {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1"}
    return {"text": cells, "json": {**about, **sides, "actual_iterations": 20, "experiment_name": "all_reduce"}}


def _opening(tool: str, options: dict[str, str], ranks: list[dict[str, Any]]) -> list[str]:
    sizes, gpus = _sizes(options), int(options.get("g", 1))
    step = f"{options['f']}(factor)" if "f" in options else f"{_bytes(options.get('i', '1M'))}(bytes)"
    lines = ["# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809", f"# Collective test starting: {tool}"]
    lines.append(
        f"# nThread 1 nGpus {gpus} minBytes {sizes[0]} maxBytes {sizes[-1]} step: {step} warmup iters:"
        f" {options.get('w', 1)} iters: {options.get('n', 20)} agg iters: 1 validation: {options.get('c', 1)} graph: 0"
        " unalign: 0"
    )
    return [*lines, "#", "# Using devices", *_devices(ranks), HEAD]


def _devices(ranks: list[dict[str, Any]]) -> list[str]:
    every = [(it, at) for it in ranks for at in range(it["gpus"])]
    return [
        f"#  Rank {number:>2} Group  0 Pid {it['pid']:>6} on {it['host']:>10} device {it['first'] + at:>2}"
        f" [0000:{BUSES[(it['first'] + at) % len(BUSES)].lower()}:00] {NAME}"
        for number, (it, at) in enumerate(every)
    ]


def _info(mine: dict[str, Any], *, alone: bool) -> list[str]:
    """Return NCCL's INFO lines of a rank: its network, its channels, its algorithms."""
    start = f"{mine['host']}:{mine['pid']}:{mine['pid'] + 80} [{mine['first']}] NCCL INFO"
    used = " ".join(f"[{at}]mlx5_{at}:1/RoCE" for at in range(len(mine["ends"]) or 8))
    across = [] if alone else [f"{start} Channel 00/0 : 1[1] -> 2[0] [receive] via NET/IB/0/GDRDMA"]
    nvls = 16 if mine["nvls"] and not mine["links_down"] else 0
    channels = f"24 coll channels, 24 collnet channels, {nvls} nvls channels, 32 p2p channels, 32 p2p channels per peer"
    return [
        f"{start} NET/IB : Using {used} [RO]; OOB eth0:10.77.1.21<0>",
        *(f"{start} Using network IB", *across, f"{start} {channels}"),
    ]


class _Report:
    """The file of -J; none without a name."""

    def __init__(self, name: str, call: Call, ranks: list[dict[str, Any]]) -> None:
        self._name, self._call, self._ranks = name, call, ranks
        self._start = time.strftime("%Y-%m-%d %H:%M:%S")

    @staticmethod
    def average(rows: list[dict[str, Any]]) -> float:
        """Return the mean over all sizes, in place and out of place."""
        rates = [row["json"][side]["bus_bw"] for row in rows for side in ("out_of_place", "in_place")]
        return sum(rates) / len(rates)

    def write(self, rows: list[dict[str, Any]], *, whole: bool) -> None:
        """Write the file, or its first half as a rank that died leaves it."""
        if not self._name:
            return
        it = self._ranks[0]
        about = {"rank": 0, "group": 0, "pid": it["pid"], "hostname": it["host"], "device": 0}
        config = {"nthreads": 1, "ngpus": it["gpus"], "warmup_iters": 1, "iterations": 20, "validation": 1}
        shown = {
            "version": 3,
            "start_time": self._start,
            "args": [self._call.tool, *self._call.argv],
            "env": [],
            "nccl_version": 22809,
            "config": {**config, "devices": [{**about, "device_hex": "0000:1b:00", "device_info": NAME}]},
            "results": [row["json"] for row in rows],
            "out_of_bounds": {"count": 0, "okay": "true"},
            "average_bus_bandwidth": {"bandwidth": self.average(rows), "okay": "unchecked"},
            "errors": [""],
            "end_time": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        text = json.dumps(shown, separators=(",", ":"))
        Path(self._name).write_text(text if whole else text[: len(text) // 2])

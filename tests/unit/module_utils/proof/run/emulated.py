# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm whose nodes have the lab's emulated tools, all in this process.

What the tools print follows from planted faults. It is parsed as the worker does it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    STATE,
    Output,
    Program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Found, Measure
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import collective, traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.fabric_verdict import (
    DROPS,
    IN_CLASS,
    MARKS,
    NOTIFICATIONS,
    PAUSED,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import Answer, Request
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.site import INCAST, Test
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.perftest_text import measures

from lab.emulators.nodes import dmesg, nvidia_smi, nvidia_state
from lab.emulators.proof import node, perftest_text, physics, proof
from lab.emulators.proof import traffic as flows
from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.run.emulated_site import (
    DSCP,
    FILES,
    FIRMWARE,
    NAMES,
    RAILS,
    STALE,
    Faults,
    Memory,
    cables,
)
from tests.unit.module_utils.proof.run.pretended import Slurm
from tests.unit.module_utils.proof.transcripts import printed


class Emulated(Slurm):
    """The nodes of `settings`. One at a time is the host on which tools run."""

    def __init__(self, faults: Faults, optimised: bool, seed: int = 0) -> None:
        super().__init__(NAMES, seed=seed)
        self.faults, self.host = faults, NAMES[0]
        self.states_of = {it: {**faults.hosts.get(it, {}), "seed": seed, "runs": {}} for it in NAMES}
        self.shared: dict[str, Any] = {}
        plugged, switches = cables(optimised)
        self.switches = dict(switches)
        for (switch, port), changes in faults.ports.items():
            own = self.switches[switch]
            self.switches[switch] = {**own, "ports": {**own["ports"], port: {**own["ports"][port], **changes}}}
        self.plugged = {**plugged, **faults.plugged}
        self.ends = {(host, rail): self._end(host, rail) for host in NAMES for rail in range(RAILS)}
        self.latest: list[str] = []

    def _end(self, host: str, rail: int) -> physics.End:
        own = {
            "priority": 3,
            "lossless": True,
            **self.faults.hosts.get(host, {}).get("rails", {}).get(f"rail{rail}", {}),
        }
        return physics.End(host, f"rail{rail}", *self.plugged[host, rail], **own)

    def __enter__(self) -> Emulated:
        """Let the emulators ask this cluster instead of files."""
        self._patches = contextlib.ExitStack()
        for module in (node, nvidia_state, nvidia_smi, dmesg):
            self._patches.enter_context(mock.patch.object(module, "host_device", self.device))
        every = {
            node: {"rails": self.rails, "hostname": lambda: self.host},
            flows: {
                "device": lambda: Memory(self.shared),
                "switches": lambda: self.switches,
                "slow": lambda: self.faults.slow,
            },
        }
        for module, functions in every.items():
            for name, function in functions.items():
                self._patches.enter_context(mock.patch.object(module, name, function))
        missing = {it: {*state.get("missing", ())} for it, state in self.states_of.items()}
        gpus = lambda: sorted({*range(RAILS)} - missing[self.host])  # noqa: E731
        self._patches.enter_context(mock.patch.object(nvidia_smi, "indices", gpus))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def device(self, family: str) -> Memory:
        return Memory(self.states_of[self.host] if family == "proof" else {})

    def rails(self, _dscp: int, _gid: int = 3, chosen: str = "") -> list[physics.End]:
        names = chosen.lstrip("=").split(",")
        return [self.ends[self.host, at] for at in range(RAILS) if f"mlx5_{at}" in names]

    def tool(self, host: str, argv: Sequence[str], environment: Mapping[str, str]) -> Output:
        """Run an emulated tool."""
        self.host = host
        name = os.path.basename(argv[0])  # noqa: PTH119
        main = {"nvidia-smi": nvidia_smi.main, "dmesg": dmesg.main}.get(name, proof.main)
        out, err = io.StringIO(), io.StringIO()
        variables = {key: it for key, it in environment.items() if key.startswith(("NCCL", "SLURM"))}
        streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with mock.patch.object(os, "environ", variables), streams[0], streams[1]:
            code = main(name, list(argv[1:]))
        return Output(out.getvalue(), err.getvalue(), code)

    # the worker

    def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        assert set(names) <= set(self.reserved)
        request = Request.from_json(request.to_json())
        found = self._flows(request)
        return {
            name: Answer(name, {**self._checked(request, name), **found.get(name, {})}, self._depends(name))
            for name in names
        }

    def _depends(self, host: str) -> dict[str, str]:
        own = self.faults.hosts.get(host, {}).get("firmware", {})
        return {
            "kernel": "6.12.1",
            **{f"firmware of mlx5_{at}": own.get(f"mlx5_{at}", FIRMWARE) for at in range(RAILS)},
        }

    def _checked(self, request: Request, name: str) -> dict[str, Sequence[Found]]:
        build = request.node(name)
        state = [it.name for it in CHECKS if it.name in request.checks and it.kind == STATE]
        found = dict(self._read(build, tuple(state))) if state else {}
        wanted = [it for it in CHECKS if it.name in request.checks and it.kind != STATE]
        ran = [(one, self._run(build, one)) for one in collect.programs(wanted, build)]
        return {**found, **{check.name: some for check, some in collect.results(wanted, build, ran, {})}}

    def _read(self, build: ProofNode, names: tuple[str, ...]) -> Mapping[str, Sequence[Found]]:
        """State has no noise: nodes with equal faults are read once."""
        ends = [(self._linked(build.name, at), self.ends[build.name, at].mtu) for at in range(RAILS)]
        key = (build.name, names, json.dumps([self.faults.hosts.get(build.name, {}), ends]))
        if key not in READ:
            wanted = [it for it in CHECKS if it.name in names]
            ran = [(one, self._run(build, one)) for one in collect.programs(wanted, build)]
            results = collect.results(wanted, build, ran, self._texts(build))
            READ[key] = {check.name: some for check, some in results}
        return READ[key]

    def _linked(self, host: str, rail: int) -> bool:
        return physics.has_link(self.ends[host, rail], self.switches)

    def _texts(self, build: ProofNode) -> dict[str, str]:
        texts = {"/proc/uptime": "36000.12 999.9\n"}
        for at, rail in enumerate(build.rails):
            own, net, port = healthy.files(rail), f"/sys/class/net/{rail.netdev}", f"/sys/class/infiniband/{rail.rdma}"
            own[f"{net}/mtu"] = f"{self.ends[build.name, at].mtu}\n"
            if not self._linked(build.name, at):
                own.update({f"{net}/operstate": "down\n", f"{net}/speed": "-1\n", f"{port}/ports/1/state": "1: DOWN\n"})
                own.update(
                    {f"{port}/ports/1/phys_state": "3: Disabled\n", f"{port}/ports/1/rate": "10 Gb/sec (4X SDR)\n"}
                )
            texts.update(own)
        return texts

    def _run(self, build: ProofNode, program: Program) -> Output:
        argv = healthy.words(program)
        if argv[0] == "ethtool":
            word = next(it for it in ("-m", "-S", "--show-fec") if it in argv)
            return Output(printed({"-m": "ethtool_optics", "-S": "ethtool_counters"}.get(word, "ethtool_fec")), "", 0)
        if argv[0] == "findmnt":
            return self._mount(build.name, argv[2])
        if argv[0] == "python3":
            return self._fio(build.name, argv[5], transfer="--rw=write" in argv)
        if argv[0].endswith("dcgmi"):
            return Output(printed("dcgm_diag"), "", 0)
        variables = dict(it.split("=", 1) for it in program.argv[2 : len(program.argv) - len(argv)])
        return self.tool(build.name, argv, variables)

    def _mount(self, host: str, path: str) -> Output:
        mounted = self.faults.hosts.get(host, {}).get("mounts", {}).get(path, FILES[path][0])
        kind = FILES[path][0] if mounted == STALE else mounted
        return Output(f"{kind} {'fs1' if kind == 'gpfs' else '/dev/vda1'}\n", "", 0)

    def _fio(self, host: str, path: str, transfer: bool) -> Output:
        self.host = host
        state = self.states_of[host]
        if state.get("mounts", {}).get(path) == STALE:
            folder = f"{path}/drawbridge-proof-{host}"
            return Output(
                "", f"{folder} can't be made: mkdir: cannot create directory '{folder}': Stale file handle", 1
            )
        shown = json.loads(printed("fio_transfer" if transfer else "fio_jobs"))
        percent = state.get("disks", {}).get(path, 100) / 100
        for job in shown["jobs"]:
            for way in ("read", "write"):
                value = node.noisy((2.6e9 if transfer else 1.0) * percent, path, job["jobname"], way)
                it = job[way]
                it["bw_bytes"], it["iops"] = int(bool(it["bw_bytes"]) * value), it["iops"] * value
        return Output(json.dumps(shown), "", 0)

    # the fabric

    def _flows(self, request: Request) -> dict[str, dict[str, list[Found]]]:
        """What perftest prints at the client of each flow. All flows of a phase run together."""
        every = traffic.flows(request.tests)
        pairs = {it: (self.ends[it.sender, it.sender_rail], self.ends[it.receiver, it.receiver_rail]) for it in every}
        fabric = self.switches, self.faults.slow
        met = physics.counted([link.name for link in physics.links(*it, *fabric)] for it in pairs.values())
        found: dict[str, dict[str, list[Found]]] = {}
        counts: Counter[tuple[int, str, str]] = Counter()
        for flow, ends in pairs.items():
            own = found.setdefault(flow.sender, {}).setdefault(str(flow.test), [])
            phases = traffic.phases(request.tests[flow.test], request.phases)
            seen, short = (
                physics.outcome(*ends, fabric[0], DSCP, size, met, fabric[1]) for size in (traffic.SIZE_BYTES, 2)
            )
            for phase in phases:
                output = self._perftest(flow, phase, seen if phase == traffic.BANDWIDTH else short, *ends)
                some = measures(output.stdout, output.stderr, output.code, flow.where, phase)
                own += [it for it in some if phase in (traffic.BANDWIDTH, it.name)]
            sent, received = ((flow.test, f"{it.host} {it.rail}") for it in ends)
            counts.update({(*sent, DROPS): seen.dropped, (*sent, PAUSED): seen.paused})
            counts.update({(*received, DROPS): seen.dropped, (*received, MARKS): seen.marked})
            counts.update({(*received, NOTIFICATIONS): seen.marked // 2})
            counts.update({(*sent, IN_CLASS): 100 if ends[0].priority == 3 else 0})
        for (test, where, name), number in counts.items():
            if request.tests[test].kind == INCAST:
                own = found.setdefault(where.split()[0], {}).setdefault(str(test), [])
                own.append(Measure(name, float(number), "%" if name == IN_CLASS else "packets", where))
        return found

    def _perftest(
        self, flow: traffic.Flow, phase: str, seen: physics.Outcome, mine: physics.End, peer: physics.End
    ) -> Output:
        """The client's output, as lab/emulators/proof/perftest.py prints it."""
        self.host, kind = flow.sender, perftest_text.KINDS[traffic.TOOLS[phase]]
        rdma = f"mlx5_{flow.sender_rail}"
        run = perftest_text.Run(kind, rdma, traffic.QUEUES, seen.mtu, 3, False, True)
        if seen.failure == physics.DOWN:
            return Output("", perftest_text.NO_LINK, 1)
        lines = [perftest_text.head(run)]
        if seen.failure == physics.NO_ROUTE:
            return Output(lines[0], perftest_text.NO_ROUTE.format(perftest_text.FIRST_QP), 1)
        lines += [perftest_text.LINE, perftest_text.columns(run)]
        if seen.failure == physics.HANG:
            return Output("\n".join(lines), "", 124)
        if seen.failure:
            return Output("\n".join(lines), perftest_text.LOST.format(depth=512, run="run_iter_bw"), 1)
        key = (kind.name, mine.rail, peer.name)
        if kind.latency:
            row = perftest_text.times(node.noisy(seen.us * (physics.READ if kind.reads else 1), *key), 2, 1000)
        else:
            row = perftest_text.rates(run, node.noisy(seen.gbps, *key), traffic.SIZE_BYTES, 1, peak=False)
        return Output("\n".join([*lines, perftest_text.row(run, row), perftest_text.LINE]), "", 0)

    def collective(self, tests: Sequence[Test], node: ProofNode, limit_s: float) -> Mapping[int, Sequence[Found]]:
        """Each rank of nccl-tests, the first one last: it prints the result."""
        return {number: self._group(number, test, node) for number, test in enumerate(tests)}

    def _group(self, number: int, test: Test, build: ProofNode) -> Sequence[Found]:
        argv = collective.command(build, test)
        at = next(at for at, word in enumerate(argv) if word.endswith("all_reduce_perf"))
        variables = dict(it.split("=", 1) for it in argv[1:at])
        ranks = [(host, local) for host in test.nodes for local in range(build.gpus)]
        outputs = []
        for rank, (host, local) in reversed(list(enumerate(ranks))):
            own = {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(local), "SLURM_NTASKS": str(len(ranks))}
            outputs.append(
                self.tool(host, argv[at:], {**variables, **own, "SLURM_JOB_ID": "1", "SLURM_STEP_ID": str(number)})
            )
        stdout, stderr = ("".join(getattr(it, name) for it in outputs) for name in ("stdout", "stderr"))
        return collective.found_of(test, stdout, stderr, max(it.code for it in outputs))


READ: dict[tuple[str, tuple[str, ...], str], Mapping[str, Sequence[Found]]] = {}
"""What state checks found, by node, names of checks and faults."""

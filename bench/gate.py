# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of opening and closing nodes, compared with common kubectl scripts: `python -m bench.gate`.

Against a lab of `LAB_KUBELETS=joined lab/lab up ctl gpu01` with nothing built in it. Node objects have no kubelets;
gpu01 plays their hosts and the controller, by the gate's own program and by bench/seed, in turns. API calls are counted
in the API server's audit log. Writes bench/measured/gate.md. The ratios are goals: a busy machine fails no
build.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.counted import on_host
from bench.gate_crowd import crowd
from bench.gate_stage import FOLDER, HOST, build, dress, names, register
from bench.gate_table import closed, compared, counted, grown, missed, page
from bench.results import store
from lab.hosts.paths import Paths
from tests.attacks.client import Client
from tests.attacks.scene import until
from tests.stack import AUDIT

ROUNDS = ((1, 30), (8, 10), (64, 3), (500, 1))
LARGEST = 500
REGISTERED = (1, LARGEST, 5000)
FIRST_JOB = 1000
AUDITING = "/etc/kubernetes/audit.yml"
POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts:drawbridge-gate", "system:serviceaccounts:drawbridge-nodes", "system:nodes"]
  - level: None
"""
Json = dict[str, Any]


def listen(client: Client) -> None:
    """Turn on the audit log. Controllers and the host's kubelet stop, because their requests would be counted too."""
    on_host(HOST, "systemctl stop kubelet")
    on_host("ctl", f"cat > {AUDITING} && systemctl restart kube-apiserver", POLICY.encode())
    on_host("ctl", "systemctl stop kube-controller-manager kube-scheduler")
    client.close()
    until(lambda: client.ask("GET", "/readyz").status == 200, "the API server is ready")


def lives(nodes: Sequence[str], rounds: Sequence[tuple[int, int]], first_job: int) -> list[Json]:
    """What the guest's half measured."""
    plan = {"nodes": list(nodes), "rounds": list(rounds), "first_job": first_job}
    return json.loads(on_host(HOST, f"python3 {FOLDER}/gate_life.py {shlex.quote(json.dumps(plan))}"))


def events() -> list[Json]:
    """The audit log, with times as numbers."""
    found = [json.loads(line) for line in on_host("ctl", f"cat {AUDIT}").splitlines()]
    for event in found:
        event["at"] = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
    return found


def measured(client: Client, registered: int, job: int) -> tuple[list[Json], int]:
    """Lives with so many nodes registered, their calls counted, and the next free job number."""
    client.close()  # the API server let go of it during the measurement before
    register(client, names(registered))
    dress(client, names(min(registered, LARGEST)))
    rounds = ROUNDS if registered == LARGEST else ROUNDS[:1]
    lived = lives(names(registered), rounds, job)
    log = events()
    for life in lived:
        life["parts"] = {name: counted(part, log) for name, part in life["parts"].items()}
    return lived, job + sum(count for _, count in rounds) + 1


def main() -> int:
    """Build, measure with few nodes registered and with many, store, judge."""
    growth, table, job = {}, {}, FIRST_JOB
    with tempfile.TemporaryDirectory(prefix="bench") as scratch:
        client = Client(Paths.of().kubeconfig, Path(scratch))
        listen(client)
        build(client)
        for registered in REGISTERED:
            lived, job = measured(client, registered, job)
            growth[str(registered)] = grown(lived)
            if registered == LARGEST:
                table = compared(lived)
        alone, job = measured(client, REGISTERED[-1], job)
        crowd(client)
        among, job = measured(client, REGISTERED[-1], job)
        beside = {"alone": closed(alone), "among others": closed(among)}
    store("gate", {"by size": table, "by nodes registered": growth, "beside": beside}, page(table, growth, beside))
    print("\n".join(missed(table, growth, beside)) or "all goals are met")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import gate_stage
from bench.guest import gate_life as guest
from roles.slurm_gate.files.gate.config import Config, Job, require_whole_nodes
from roles.slurm_gate.files.gate.states import place

NODES = gate_stage.names(3)


def test_a_node_is_as_large_as_a_gpu_node_and_born_closed() -> None:
    node = gate_stage.node(NODES[0])
    assert place(node) == (0, "closed")
    assert 15_000 < len(json.dumps({**node, **gate_stage.status()})) < 25_000


def test_the_gate_serves_the_jobs_that_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_stage, "server", lambda: "https://ctl:6443")
    file = tmp_path / "config.json"
    file.write_text(json.dumps(gate_stage.config(NODES)))
    config = Config.read(file)
    environment = guest.environment(1001, NODES, NODES[1])
    job = Job.of(environment, config)
    assert job.nodes == tuple(NODES) and job.owner.namespace == guest.NAMESPACE
    require_whole_nodes(environment, job, config)


def test_a_script_that_fails_ends_the_measurement() -> None:
    with pytest.raises(SystemExit, match="no such node"):
        guest.took(["/bin/sh", "-c", "echo error: no such node >&2; exit 0"], {"SLURMD_NODENAME": "node00001"})


def test_what_is_measured_is_what_children_take() -> None:
    found = guest.at_once([(["/bin/sh", "-c", "exit 0"], {"SLURMD_NODENAME": name}) for name in NODES])
    assert len(found) == 3 and all(seconds > 0 for seconds in found)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program of Slurm's controller with no other file of this tree. srun is a stub that really runs the workers."""

from __future__ import annotations

import compileall
import fcntl
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.proof.results import example

ROLE = ROOT / "roles/node_proof"
PROGRAM = ROLE / "files/drawbridge-prove.py"
SOURCES = imported(PROGRAM.read_text(), source)
NAMES = ("n1", "n2")
DRIVER = """
import functools, importlib.machinery, importlib.util, pathlib, sys
file, path, folder = sys.argv[1:4]
loader = importlib.machinery.SourceFileLoader("program", file)
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("program", loader))
loader.exec_module(program)
program.PATH, sys.argv = path, [file, *sys.argv[4:]]
program.METRICS = pathlib.Path(folder, "metrics")
program.StoreFiles = functools.partial(program.StoreFiles, pathlib.Path(folder))
sys.exit(program.main())
"""
"""The program's own PATH and folder are those of a controller."""
SCONTROL = """\
case "$*" in
  "show node -o") cat {root}/nodes ;;
  "show reservation -o") cat {root}/reservation ;;
  "create reservation"*) echo "ReservationName=drawbridge-proof Nodes=n1" > {root}/reservation ;;
  "delete "*) : > {root}/reservation ;;
esac
"""
SRUN = """\
for last; do :; done
for name in {names}; do
  cp "$last" "$last.$name"
  SLURMD_NODENAME=$name {python} -I "$last.$name"
done
"""


class Controller:
    """A controller with two nodes that have neither rails nor GPUs."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root, self.program = root, program
        build = ProofNode("", "cpu").as_dict()
        part = {"names": "n[1-2]", "addresses": "", "node_class": "cpu", "unit": "u", "leaves": []}
        keys = {"uplinks": {}, "passports": [], "most_days": 0, "group": 32, "incast": 0, "percent_per_hour": 100}
        self.settings = {
            "cluster": "lab",
            "partition": "drawbridge-proof",
            "classes": {"cpu": build},
            "ranges": [part],
            **keys,
        }
        self.place = root / "proof.json"
        self.place.write_text(json.dumps(self.settings))
        self.nodes("IDLE", "IDLE")
        (root / "reservation").touch()
        for name in ("squeue", "scancel", "sacctmgr"):
            self.stub(name, "true")
        self.stub("scontrol", SCONTROL.format(root=root))
        self.answering(*NAMES)

    def nodes(self, *states: str) -> None:
        lines = (f"NodeName={name} State={state} CPUTot=1\n" for name, state in zip(NAMES, states))
        (self.root / "nodes").write_text("".join(lines))

    def answering(self, *names: str) -> None:
        self.stub("srun", SRUN.format(names=" ".join(names), python=sys.executable))

    def stub(self, name: str, body: str) -> None:
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.root}/calls\n{body}\n')
        path.chmod(0o755)

    def calls(self, *words: str) -> list[str]:
        file = self.root / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if all(word in line for word in words)]

    def call(self, verb: str, *options: str) -> tuple[int, str, str]:
        """Exit code, output, complaints."""
        where = [str(self.program), f"{self.root}/bin:/usr/bin:/bin", str(self.root / "store")]
        argv = [sys.executable, "-I", "-c", DRIVER, *where, verb, "--place", str(self.place), *options]
        done = subprocess.run(argv, env={"LC_ALL": "C"}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def result(self, verb: str = "run", *options: str) -> tuple[int, dict[str, Any]]:
        code, out, complaints = self.call(verb, *options)
        assert out, complaints
        return code, json.loads(out)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with its modules, compiled once."""
    local = tmp_path_factory.mktemp("local")
    library = local / "lib/drawbridge-prove/drawbridge"
    found = local / "sbin/drawbridge-prove"
    modules = {library / it: ROOT / "module_utils/drawbridge" / it for it in SOURCES}
    for path, original in {found: PROGRAM, **modules}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(original.read_text())
    compileall.compile_dir(library, quiet=1)
    return found


@pytest.fixture
def controller(tmp_path: Path, program: Path) -> Controller:
    return Controller(tmp_path, program)


def verdicts(printed: dict[str, Any]) -> dict[str, str]:
    return {it["name"]: it["verdict"] for it in printed["result"]["nodes"]}


def test_it_is_placed_to_run_without_the_callers_settings() -> None:
    files = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__node_proof_files"]
    [placed] = [it for it in files if it["path"] == "/usr/local/sbin/drawbridge-prove"]
    assert (placed["source"], placed["run_by"]) == (PROGRAM.name, "/usr/bin/python3 -I")


def test_a_proof_of_some_nodes_prints_its_result_and_the_one_before(controller: Controller) -> None:
    controller.answering("n1")
    (controller.root / "store/results").mkdir(parents=True)
    before = replace(example(4), started="2020-01-01T00:00:00+00:00").to_json()
    (controller.root / "store/results/2020.json").write_text(json.dumps(before))
    code, printed = controller.result("run", "--nodes", "n1")
    assert (code, verdicts(printed)) == (0, {"n1": "proved"})
    assert printed["before"] == json.loads(json.dumps(before))
    assert controller.calls("create reservation", "nodes=n1", "user=root")
    assert (controller.root / "reservation").read_text() == ""


def test_a_node_without_an_answer_fails_the_proof_and_is_drained(controller: Controller) -> None:
    controller.answering("n1")
    code, printed = controller.result()
    assert (code, verdicts(printed)) == (1, {"n1": "proved", "n2": "failed"})
    metrics = (controller.root / "store/metrics/proof.prom").read_text()
    assert 'drawbridge_proof_passed_timestamp_seconds{node="n1"} ' in metrics and "n2" not in metrics
    assert controller.calls("scontrol update nodename=n2 state=drain reason=drawbridge: proof: n2 gave no answer")


@pytest.mark.parametrize(("nodes", "why"), [("n[1-3]", "n3 is no node of"), ("n[", "is no hostlist")])
def test_nodes_that_the_intent_lacks_are_refused(controller: Controller, nodes: str, why: str) -> None:
    code, out, complaint = controller.call("run", "--nodes", nodes)
    assert (code, out, why in complaint, len(complaint.splitlines())) == (2, "", True, 1)
    assert controller.calls("srun") == []


def test_looking_says_why_a_node_is_left_alone_and_changes_nothing(controller: Controller) -> None:
    controller.nodes("IDLE+DRAIN", "DOWN")
    code, out, _complaint = controller.call("look")
    assert (code, json.loads(out)) == (
        0,
        {"n1": "it is drained with the reason: none", "n2": "it is down (no reason)"},
    )
    assert controller.calls("update") == controller.calls("srun") == []


def test_the_public_key_is_always_the_same(controller: Controller) -> None:
    code, key, _complaint = controller.call("key")
    assert (code, key.split()[0]) == (0, "ssh-ed25519")
    assert controller.call("key")[1] == key


def test_a_timer_cleans_and_starts_one_patrol_in_an_hour(controller: Controller) -> None:
    (controller.root / "reservation").write_text("ReservationName=drawbridge-proof Nodes=n1\n")
    assert verdicts(controller.result("tend")[1]) == dict.fromkeys(NAMES, "proved")
    assert controller.calls("scontrol delete reservationname=drawbridge-proof")
    assert controller.calls("srun", "--qos=drawbridge-proof")
    jobs = len(controller.calls("srun"))
    assert controller.call("tend")[:2] == (0, "")
    assert len(controller.calls("srun")) == jobs


def test_without_a_patrol_the_timer_only_cleans(controller: Controller) -> None:
    controller.place.write_text(json.dumps({**controller.settings, "percent_per_hour": 0}))
    assert controller.call("tend")[:2] == (0, "")
    assert controller.calls("scancel") and not controller.calls("srun")


def test_one_proof_at_a_time(controller: Controller) -> None:
    controller.call("key")
    with (controller.root / "store/lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, out, complaint = controller.call("run", "--wait", "0")
    assert (code, out, "another proof runs" in complaint) == (2, "", True)
    assert controller.calls() == []


def test_slurm_that_does_not_answer_is_said(controller: Controller) -> None:
    controller.stub("scontrol", "echo 'slurm_load_node error: Unable to contact slurm controller' >&2; exit 1")
    code, out, complaint = controller.call("run")
    assert (code, out, "Unable to contact slurm controller" in complaint) == (2, "", True)


@pytest.mark.parametrize("text", [None, "[]", "{}"])
def test_a_file_without_settings_is_said(controller: Controller, text: str | None) -> None:
    controller.place.unlink()
    if text is not None:
        controller.place.write_text(text)
    code, _out, complaint = controller.call("look")
    assert (code, complaint.startswith(f"{controller.place} has no settings of a proof, run prove.yml")) == (2, True)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: the node tier in three slices, each through its own ansible-runner.

ansible-runner's transmit, worker and process are what the mesh of AWX runs. A slice has an inventory with its own nodes
and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.hosts.paths import REPOSITORY
from tests.collection.installed import BIN

from .conftest import Lab

SLICES = (("gpu01", "gpu04"), ("gpu02",), ("gpu03",))
PROJECT = ("ansible.cfg", "filter_plugins", "library", "module_utils", "playbooks", "plugins", "roles", "collections")
DRIFTS = {name: f"mlnx_qos -i rail{rail} --pfc 0,0,0,0,0,1,0,0" for name, rail in (("gpu02", 2), ("gpu04", 4))}
RUNNER = str(BIN / "ansible-runner")


def slice_of(folder: Path, names: Sequence[str], key: str, extra: dict[str, Any]) -> Path:
    """A private data folder: the project, and the inventory of these nodes."""
    for name in PROJECT:
        source, copy = REPOSITORY / name, folder / "project" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    lab = yaml.safe_load((REPOSITORY / "inventories/lab/hosts.yml").read_text())["all"]
    hosts = lab["children"]["nodes"]["children"]["gpu"]["hosts"]
    nodes = {"children": {"gpu": {"hosts": {name: hosts[name] for name in names}}}}
    shutil.copytree(REPOSITORY / "inventories/lab/group_vars", folder / "inventory/group_vars")
    inventory = {"all": {"vars": lab["vars"], "children": {"nodes": nodes}}}
    (folder / "inventory/hosts.yml").write_text(yaml.safe_dump(inventory))
    (folder / "env").mkdir()
    (folder / "env/extravars").write_text(json.dumps({"slurm_node_munge_key": key, **extra}))
    settings = {name: value for name, value in os.environ.items() if name.startswith("LAB_")}
    (folder / "env/envvars").write_text(yaml.safe_dump({**settings, "PATH": f"{BIN}:{os.environ['PATH']}"}))
    return folder


def started(folder: Path, output: Path) -> subprocess.Popen[bytes]:
    """Hand the slice to a worker of its own, and what it answers to `process`."""
    place, answers = f"{folder}-worker", f"{folder}-answers"
    command = (
        f"cd / && {RUNNER} transmit {folder} -p playbooks/node_tier.yml"
        f" | {RUNNER} worker --private-data-dir {place} | {RUNNER} process {answers}"
    )
    with output.open("wb") as file:
        return subprocess.Popen(["bash", "-o", "pipefail", "-c", command], stdout=file, stderr=subprocess.STDOUT)


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The result of each node's visit, as `process` wrote it."""
    [events] = Path(f"{folder}-answers").rglob("job_events")
    found = {}
    for path in events.glob("*.json"):
        event = json.loads(path.read_text())
        data = event.get("event_data", {})
        if event["event"] == "runner_on_ok" and str(data.get("resolved_action", "")).endswith("node_visit"):
            found[data["host"]] = data["res"]
    return found


def run(folder: Path, key: str, **extra: Any) -> dict[str, dict[str, Any]]:
    """All slices at once; the results of all nodes."""
    folders = [slice_of(folder / f"slice{at}", names, key, extra) for at, names in enumerate(SLICES)]
    workers = [started(each, Path(f"{each}.log")) for each in folders]
    codes = [worker.wait() for worker in workers]
    assert not any(codes), [Path(f"{each}.log").read_text()[-3000:] for each in folders]
    found = [results(each) for each in folders]
    assert [sorted(each) for each in found] == [sorted(names) for names in SLICES], "a slice visits its own nodes"
    return {name: result for each in found for name, result in each.items()}


@pytest.fixture
def key(lab: Lab) -> str:
    """The munge key, as a credential would hand it over."""
    return lab.ssh("ctl", "base64 -w0 /etc/munge/munge.key")


def test_slices_repair_what_is_wrong_on_their_nodes(lab: Lab, key: str, tmp_path: Path) -> None:
    for name, command in DRIFTS.items():
        lab.tell(f"scontrol update nodename={name} state=drain reason=drift")
        lab.ssh(name, command)
    try:
        first = run(tmp_path / "first", key)
    finally:
        for name in DRIFTS:
            lab.tell(f"scontrol update nodename={name} state=undrain")
    assert sorted(name for name, result in first.items() if result["changed"]) == sorted(DRIFTS)
    second = run(tmp_path / "second", key)
    assert not any(result["changed"] for result in second.values())
    whole = lab.playbook("site", "--check")
    assert (whole.code, whole.changed()) == (0, []), whole.output

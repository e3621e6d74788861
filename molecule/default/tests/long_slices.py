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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.hosts.paths import REPOSITORY
from tests.collection.installed import BIN
from tests.processes import end
from tests.waiting import until

from .conftest import Lab

SLICES = (("gpu01", "gpu04"), ("gpu02",), ("gpu03",))
PROJECT = ("ansible.cfg", "filter_plugins", "library", "module_utils", "playbooks", "plugins", "roles", "collections")
DRIFTS = {name: f"mlnx_qos -i rail{rail} --pfc 0,0,0,0,0,1,0,0" for name, rail in (("gpu02", 2), ("gpu04", 4))}
RUNNER, VISIT = str(BIN / "ansible-runner"), "TASK [Bring all layers of the node to their intended state]"


def slice_of(folder: Path, names: Sequence[str], key: str) -> Path:
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
    (folder / "env/extravars").write_text(json.dumps({"slurm_node_munge_key": key}))
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


def begin(folder: Path, key: str) -> tuple[list[Path], list[subprocess.Popen[bytes]]]:
    """Start all slices at once."""
    folders = [slice_of(folder / f"slice{at}", names, key) for at, names in enumerate(SLICES)]
    return folders, [started(each, Path(f"{each}.log")) for each in folders]


def succeed(folders: Sequence[Path], workers: Sequence[subprocess.Popen[bytes]]) -> None:
    codes = [worker.wait() for worker in workers]
    assert not any(codes), [Path(f"{each}.log").read_text()[-3000:] for each in folders]


def run(folder: Path, key: str) -> dict[str, dict[str, Any]]:
    """All slices at once; the results of all nodes."""
    folders, workers = begin(folder, key)
    succeed(folders, workers)
    found = [results(each) for each in folders]
    assert [sorted(each) for each in found] == [sorted(names) for names in SLICES], "a slice visits its own nodes"
    return {name: result for each in found for name, result in each.items()}


@pytest.fixture
def key(lab: Lab) -> str:
    """The munge key, as a credential would hand it over."""
    return lab.ssh("ctl", "base64 -w0 /etc/munge/munge.key")


@pytest.fixture
def drifted(lab: Lab) -> Iterator[None]:
    """Two nodes have a drift each, and no jobs."""
    for name, command in DRIFTS.items():
        lab.tell(f"scontrol update nodename={name} state=drain reason=drift")
        lab.ssh(name, command)
    yield
    for name in DRIFTS:
        lab.tell(f"scontrol update nodename={name} state=undrain")


def site_is_right(lab: Lab) -> None:
    for name in DRIFTS:
        lab.tell(f"scontrol update nodename={name} state=undrain")
    whole = lab.playbook("site", "--check")
    assert (whole.code, whole.changed()) == (0, []), whole.output


def test_slices_repair_the_drifts_of_their_nodes(lab: Lab, key: str, drifted: None, tmp_path: Path) -> None:
    first = run(tmp_path / "first", key)
    assert sorted(name for name, result in first.items() if result["changed"]) == sorted(DRIFTS)
    second = run(tmp_path / "second", key)
    assert not any(result["changed"] for result in second.values())
    site_is_right(lab)


def test_a_killed_slice_is_finished_by_its_next_run(lab: Lab, key: str, drifted: None, tmp_path: Path) -> None:
    """It is killed in its visits; the others go on."""
    folders, workers = begin(tmp_path / "killed", key)
    killed = workers[0]

    def visits() -> bool:
        assert killed.poll() is None, Path(f"{folders[0]}.log").read_text()[-3000:]
        said = [path.read_text(errors="replace") for path in Path(f"{folders[0]}-worker").rglob("stdout")]
        return any(VISIT in text for text in said)

    until(visits, 1200, "the slice visits its nodes")
    end(killed.pid)
    killed.wait()
    succeed(folders[1:], workers[1:])
    run(tmp_path / "again", key)
    third = run(tmp_path / "third", key)
    assert not any(result["changed"] for result in third.values())
    site_is_right(lab)

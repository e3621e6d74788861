# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A site with projects in this process, and runs of projects.yml on it that end at any of their changes.

Modules, plans and views are the real ones. They meet the emulated mm commands, Slurm's accounting database and an API
server in memory. After each change, the world is compared with what must hold at any time.
"""

from __future__ import annotations

import copy
import datetime
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.project_objects import made
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command, Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer, run, validated
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import Event
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import viewed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting import (
    layer as accounting,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.jobs_layer import (
    SLURM_ACCOUNT_JOBS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories import (
    io as directories,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories import (
    layer as directories_layer,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets import (
    io as filesets,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets import (
    layer as filesets_layer,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies import (
    io as policies,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies.layer import (
    MM_POLICY,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.layer import MM_QUOTA

from lab.emulators.common import Device
from lab.emulators.storage import gpfs
from lab.emulators.storage.gpfs import disks
from lab.emulators.storage.gpfs.states import default_state
from tests.unit.module_utils.site.test_refused import site
from tests.unit.projects.parts import HONEST, Api, Kill, Own, mm, plant, tree
from tests.unit.projects.plays import Task, Variables, play
from tests.unit.projects.sacctmgr import Sacctmgr

Json = dict[str, Any]
LAYERS: dict[str, Layer] = {
    "slurm_accounting": accounting.SLURM_ACCOUNTING,
    "slurm_account_jobs": SLURM_ACCOUNT_JOBS,
    "mm_fileset": filesets_layer.MM_FILESET,
    "mm_quota": MM_QUOTA,
    "mm_policy": MM_POLICY,
    "shared_directories": directories_layer.SHARED_DIRECTORIES,
}
BEFORE, AFTER, LIES = "before", "after", "lies"
DAY = "2027-01-15"
LATER = "2027-04-01"
"""The day after the end of a project that ends."""
GROUP = "daemon"


class Killed(BaseException):
    """The run ends here: no handler of the code sees it."""


class Failed(Exception):
    """A task failed, so the run ended."""


@dataclass
class World:
    """The site. `folder` has its files; `raw` is the intent without projects."""

    folder: Path
    raw: Json = field(init=False)
    slurm: Sacctmgr = field(default_factory=Sacctmgr)
    api: Api = field(default_factory=Api)
    day: str = DAY
    kill: Kill = field(default_factory=Kill)
    must_hold: Callable[[str, Mapping[str, Own], Mapping[str, Own]], None] = lambda *_: None
    """Raises for a change that must not be; its words, and projects before and after it."""
    names: Sequence[str] = ("alpha", "beta", "gamma")
    views: dict[str, Any] = field(default_factory=dict)
    check: bool = False
    last: dict[str, Own] = field(default_factory=dict)
    """Projects after the last change."""
    answers: dict[tuple[str, str], Completed] = field(default_factory=dict)
    """Of commands that read, by the state that they read."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Snapshots by name."""
    events: list[Event] = field(default_factory=list)
    """Results of a run's tasks, as the callback of the report gets them."""
    broken: list[str] = field(default_factory=list)
    """What did not hold after a change; modules catch all exceptions."""

    def __post_init__(self) -> None:
        self.mount = self.folder / "shared/fs/fs1"
        self.mount.mkdir(parents=True)
        (self.folder / "mountinfo").write_text(f"90 22 0:52 / {self.mount} rw - gpfs fs1 rw\n")
        (self.folder / "hosts").write_text("10.77.1.13 nsd1\n")
        for path, text in (
            ("self/mounts", f"fs1 {self.mount} gpfs rw 0 0\n"),
            ("sys/kernel/random/boot_id", "1"),
            ("sys/kernel/osrelease", "6\n"),
        ):
            (self.folder / "proc" / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "proc" / path).write_text(text)
        self.device = Device(self.folder / "shared/gpfs", self.folder / "shared/clock")
        state = default_state()
        state["nodes"]["nsd1"]["ip"], state["boots"] = "10.77.1.13", {"nsd1": "1"}
        state["filesystems"]["fs1"].update(mount_point=str(self.mount), filesetdf="Yes")
        state["mounts"]["fs1"]["nsd1"] = {"path": str(self.mount), "mode": "RW"}
        with self.device.state(state):
            pass
        self.raw = {key: it for key, it in site("lab").items() if key.split("_")[1] in ("nodes", "slurm", "kube")}
        self.raw["drawbridge_gpfs"] = {"admin": "nsd1", "filesystems": [{"device": "fs1", "mount": str(self.mount)}]}
        self.api.change = self.change

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Let modules of this process meet this site."""
        environment = {
            "LAB_DEVICE_DIR": "lab",
            "LAB_SHARED_DIR": "shared",
            "LAB_MMFS_DIR": "mmfs",
            "LAB_LPP_DIR": "lpp",
            "LAB_PROCFS": "proc",
            "LAB_MODULES_DIR": "modules",
            "LAB_HOSTS_FILE": "hosts",
        }
        for name, place in environment.items():
            patch.setenv(name, str(self.folder / place))
        patch.setenv("LAB_HOSTNAME", "nsd1")
        patch.setattr(Command, "__call__", lambda _self, argv, ok=(0,): self.command(list(argv), ok))
        for module in (filesets_layer, directories_layer):
            patch.setattr(module, "MOUNTS", self.folder / "mountinfo")
        for module, name in ((filesets, "give"), (filesets, "make"), (directories, "make")):
            patch.setattr(module, name, self._changing(getattr(module, name)))
        patch.setattr(policies, "FOLDER", self.folder / "policies")
        # no process of this machine is one of the site
        patch.setattr(filesets, "named_users", lambda *_: "")
        patch.setattr(disks, "_in_use", lambda _: ())
        patch.setattr(accounting, "date", self._calendar())

    def _calendar(self) -> type[datetime.date]:
        world = self

        class Calendar(datetime.date):
            """Of a host that is a day behind the machine that runs Ansible."""

            @classmethod
            def today(cls) -> datetime.date:
                return datetime.date.fromisoformat(world.day) - datetime.timedelta(1)

        return Calendar

    def _changing(self, real: Callable[..., None]) -> Callable[..., None]:
        return lambda path, owned: self.change(f"{path} {owned}", lambda: real(path, owned))

    def change(self, what: str, do: Callable[[], Any], answer: Any = None) -> Any:
        """Make one change, or end here."""
        self.kill.count += 1
        now = self.kill.count == self.kill.at
        if answer is not HONEST:
            self.kill.lies.append(self.kill.count)
        if now and self.kill.how == BEFORE:
            raise Killed(what)
        if now and self.kill.how == LIES and answer is not HONEST:
            return answer
        result, before, self.last = do(), self.last, self.own()
        try:
            self.must_hold(what, before, self.last)
        except AssertionError as err:
            self.broken.append(str(err))
        if now and self.kill.how == AFTER:
            raise Killed(what)
        return result

    def command(self, argv: list[str], ok: Sequence[int]) -> Completed:
        """A command of Slurm or Storage Scale."""
        tool = argv[0].rpartition("/")[2]
        if not tool.startswith("mm"):
            real = (lambda: self.slurm.run(argv)) if self.slurm.writes(argv) else None
            return self.change(" ".join(argv), real, Completed(0, "", "")) if real else self.slurm.run(argv)
        writes = tool in gpfs.MUTATORS and "test" not in argv
        line, nothing = " ".join([tool, *argv[1:]]), Completed(0, "", "")
        if writes:
            return self.change(line, lambda: mm(tool, argv[1:], ok), nothing)
        key = line, (self.device.directory / "state.json").read_text()
        if key not in self.answers:
            self.answers[key] = mm(tool, argv[1:], ok)
        return self.answers[key]

    def own(self) -> dict[str, Own]:
        """What there is of each project."""
        state = json.loads((self.device.directory / "state.json").read_text())
        record = state["filesystems"]["fs1"]
        policy = (record.get("policy") or {}).get("text", "")
        return {name: self._own(name, record, policy) for name in self.names}

    def _own(self, name: str, record: Json, policy: str) -> Own:
        found = record.get("filesets", {}).get(name)
        junction = (found["junction"] or "") if found else None
        place = (
            self.mount / junction if junction else self.folder / "shared/filesets/fs1" / str((found or {}).get("id"))
        )
        at = os.lstat(self.mount / junction) if junction else None
        data = place / "data"
        return Own(
            takes_jobs=name in self.slurm.accounts and self.slurm.takes_jobs(name),
            claims=sum(f"/namespaces/{name}/persistentvolumeclaims/" in path for path in self.api.items),
            junction=junction,
            top=(at.st_uid, at.st_gid, f"{stat.S_IMODE(at.st_mode):04o}") if at else None,
            limits=record.get("quotas", {}).get("FILESET", {}).get(name),
            rule=next((line for line in policy.splitlines() if f"('{name}')" in line), ""),
            data=data.read_text() if found and data.exists() else "",
        )

    def run(self, projects: Json, kill: Kill | None = None, check: bool = False, **extra: Any) -> list[Json]:
        """Run projects.yml with an intent. Returns the results of its tasks; raises Failed at the first that fails."""
        self.kill, self.check, results = kill or Kill(), check, list[Json]()
        self.broken.clear()
        self.events.clear()
        self.last = self.own()
        raw = {**self.raw, "drawbridge_projects": projects}
        text = json.dumps(projects)

        def lookup(plugin: str, view: str, **given: Any) -> Any:
            if not plugin.endswith(".view"):
                return ""
            key = f"{text} {view} {given}"
            if key not in self.views:
                self.views[key] = viewed(view, {**raw, "inventory_hostname": "ctl"}, given)
            return self.views[key]

        registered: Json = {}
        common: Json = {
            **raw,
            **extra,
            "lookup": lookup,
            "now": lambda **_: self.day,
            "groups": {"controllers": ["ctl"]},
            "hostvars": {"ctl": registered},
        }

        def do(task: Task) -> Json:
            results.append(self._do(task))
            failed = "failed" if results[-1].get("failed") else "ok"
            self.events.append(Event(failed, task.role, task.role, task.name, results[-1]))
            if results[-1].get("failed"):
                raise Failed(results[-1]["msg"])
            return results[-1]

        try:
            play(Variables(common), do, registered)
        finally:
            assert not self.broken, self.broken
        return results

    def _do(self, task: Task) -> Json:
        if task.module == "kubernetes.core.k8s":
            return self._apply(task.options.evaluated()["definition"])
        if task.module == "project_objects":
            args = task.options.evaluated()
            args = {"objects": args["objects"], "ended": args["ended"], "timeout_s": 0}
            return made(self.api, args, self.check)
        if task.module not in LAYERS:
            return {}
        layer = LAYERS[task.module]
        options = {key: it for key, it in task.options.evaluated().items() if key != "mm_path"}
        return run(layer, validated(layer.spec, options), self.check)

    def _apply(self, manifests: Sequence[Json]) -> Json:
        steps = []
        for body in manifests:
            if body["kind"] == "Namespace":
                path = f"/api/v1/namespaces/{body['metadata']['name']}"
                live = self.api.items.get(path, {"metadata": {}})["metadata"]
                if any(live.get(key) != body["metadata"].get(key) for key in ("labels", "annotations")):
                    steps.append(f"apply Namespace {body['metadata']['name']}")
                    if not self.check:
                        self.api("APPLY", path, body)
        return {"steps": steps}

    def snapshot(self) -> Any:
        """All of it, to be brought back."""
        gpfs_state = (self.device.directory / "state.json").read_text()
        trees = [tree(self.folder / "shared" / name) for name in ("fs", "filesets")]
        return copy.deepcopy((self.slurm, self.api.items)), gpfs_state, trees, self.day

    def restore(self, saved: Any) -> None:
        """Bring it back."""
        (self.slurm, self.api.items), state, trees, self.day = copy.deepcopy(saved)
        (self.device.directory / "state.json").write_text(state)
        for name, files in zip(("fs", "filesets"), trees, strict=True):
            shutil.rmtree(self.folder / "shared" / name, ignore_errors=True)
            plant(files)
        self.must_hold = lambda *_: None

    def end(self) -> Any:
        """What two ends of the same work have in common."""
        record = json.loads((self.device.directory / "state.json").read_text())["filesystems"]["fs1"]
        text = (record.get("policy") or {}).get("text", "")
        return (
            self.own(),
            {name: (it["comment"], it["max"]) for name, it in record["filesets"].items()},
            sorted(text.splitlines()),
            self.slurm,
            self.api.items,
        )

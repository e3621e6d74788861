# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What projects ship to install their kinds of workloads, out of their Go modules into the lab's cache.

Pinned by each module's checksum, as in a go.sum. CustomResourceDefinitions tell the API server of the kinds and run
nothing by themselves; tests that are run on demand install the rest.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.errors import LabError
from lab.tools import build, toolchain

FOLDER = "manifests"
CRDS = "base/crds"


@dataclass(frozen=True)
class Module:
    """A Go module at a version, the checksum of all its files, the folder that is kept, definitions within it."""

    path: str
    version: str
    checksum: str
    folder: str
    definitions: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tells this version's files from others in the cache."""
        return f"{self.path.replace('/', '-')}-{self.version}"


TRAINING_OPERATOR = Module(
    "github.com/kubeflow/training-operator",
    "v1.9.3",
    "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc=",
    "manifests",
    (f"{CRDS}/kubeflow.org_pytorchjobs.yaml",),
)
TRAINER = Module(
    "github.com/kubeflow/trainer/v2",
    "v2.3.0",
    "h1:Je+e7zvTLzB4qW09J1fB7pZrqvPtWuGng2NqdN5p5QU=",
    "manifests",
    tuple(
        f"{CRDS}/trainer.kubeflow.org_{kind}.yaml"
        for kind in ("trainjobs", "trainingruntimes", "clustertrainingruntimes")
    ),
)
JOBSET = Module(
    "sigs.k8s.io/jobset",
    "v0.12.0",
    "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
    "config",
    ("components/crd/bases/jobset.x-k8s.io_jobsets.yaml",),
)
MODULES = (TRAINING_OPERATOR, TRAINER, JOBSET)
FIRST_TRAINER = replace(TRAINER, version="v2.0.0", checksum="h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU=")
"""The first release, whose TrainJobs have other fields."""
ALL = (*MODULES, FIRST_TRAINER)
"""With what only tests need: none should download in their middle."""


def ensure(cache: Path, say: Callable[[str], None] = print, modules: Sequence[Module] = MODULES) -> list[Path]:
    """Return every definition's file, downloading the modules that the cache lacks.

    LabError when one can't be had, or differs from the pinned one; nothing of it is kept then.
    """
    for module in modules:
        if not place(cache, module).exists():
            say(f"tools: downloading {module.path} {module.version} for its definitions")
            place(cache, module).parent.mkdir(parents=True, exist_ok=True)
            _download(module, place(cache, module))
    return [place(cache, module) / name for module in modules for name in module.definitions]


def place(cache: Path, module: Module) -> Path:
    """Where a module's folder is kept."""
    return cache / "tools" / FOLDER / module.name


def _download(module: Module, place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".downloading-", dir=place.parent) as work:
        go = toolchain.install(toolchain.find(), Path(work))
        command = [go, "mod", "download", "-json", f"{module.path}@{module.version}"]
        env = build.environment(Path(work))
        done = build.twice(
            lambda: subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False)
        )
        if done.returncode:
            raise LabError(
                f"{module.path} {module.version} can't be downloaded: {done.stderr.strip() or done.stdout.strip()};"
                " it comes from the Go module proxy (GOPROXY), once"
            )
        said = json.loads(done.stdout)
        if said["Sum"] != module.checksum:
            raise LabError(
                f"{module.path} {module.version} has the checksum {said['Sum']}, but {module.checksum} is pinned;"
                " use another GOPROXY"
            )
        whole = Path(work) / "whole"
        shutil.copytree(Path(said["Dir"]) / module.folder, whole)
        if not place.exists():
            whole.rename(place)

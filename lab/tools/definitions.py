# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions of workloads, as their projects ship them, out of their Go modules into the lab's cache.

Pinned by each module's checksum, as in a go.sum. What the API server knows by them runs nothing by itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.tools import build, toolchain

FOLDER = "definitions"


@dataclass(frozen=True)
class Module:
    """A Go module at a version, the checksum of all its files, and the folder and names of those that we want."""

    path: str
    version: str
    checksum: str
    folder: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """What tells this version's files from others in the cache."""
        return f"{self.path.replace('/', '-')}-{self.version}"


MODULES = (
    Module(
        "github.com/kubeflow/training-operator",
        "v1.9.3",
        "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc=",
        "manifests/base/crds",
        ("kubeflow.org_pytorchjobs.yaml",),
    ),
    Module(
        "github.com/kubeflow/trainer/v2",
        "v2.3.0",
        "h1:Je+e7zvTLzB4qW09J1fB7pZrqvPtWuGng2NqdN5p5QU=",
        "manifests/base/crds",
        (
            "trainer.kubeflow.org_trainjobs.yaml",
            "trainer.kubeflow.org_trainingruntimes.yaml",
            "trainer.kubeflow.org_clustertrainingruntimes.yaml",
        ),
    ),
    Module(
        "sigs.k8s.io/jobset",
        "v0.12.0",
        "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ=",
        "config/components/crd/bases",
        ("jobset.x-k8s.io_jobsets.yaml",),
    ),
)


def ensure(cache: Path, say: Callable[[str], None] = print) -> list[Path]:
    """Return every definition's file, downloading the modules that the cache lacks.

    LabError when one can't be had, or is not what was pinned; nothing of it is kept then.
    """
    found = []
    for module in MODULES:
        place = cache / "tools" / FOLDER / module.name
        if not place.exists():
            say(f"tools: downloading {module.path} {module.version} for its definitions")
            place.parent.mkdir(parents=True, exist_ok=True)
            _download(module, place)
        found += [place / name for name in module.files]
    return found


def _download(module: Module, place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".downloading-", dir=place.parent) as work:
        go = toolchain.install(toolchain.find(), Path(work))
        command = [go, "mod", "download", "-json", f"{module.path}@{module.version}"]
        env = build.environment(Path(work))
        done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False)
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
        whole.mkdir()
        for name in module.files:
            shutil.copy(Path(said["Dir"]) / module.folder / name, whole)
        if not place.exists():
            whole.rename(place)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Build the lab's Kubernetes binaries, containerd, helm and the device plugin, each once, into a cache.

Versions and checksums are pinned by go.mod and go.sum. Kubernetes and the device plugin share a pair. Each of
containerd, helm, the training-operator, JobSet, Trainer, node_exporter and nvidia-mig-parted has one, as their
requirements differ. Each program has a cache key of its own, so that a changed device plugin doesn't cost a new API
server.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.tools import toolchain

HERE = Path(__file__).parent
KUBERNETES = "v1.36.3"
FREE_BYTES_NEEDED = 6 << 30
CONTAINERD = "2.3.5"
STAMP = f"-X k8s.io/component-base/version.gitVersion={KUBERNETES}"
CONTAINERD_STAMP = f"-X github.com/containerd/containerd/v2/version.Version={CONTAINERD}"
CONTAINERD_PACKAGES = "github.com/containerd/containerd/v2/cmd"


@dataclass(frozen=True)
class Binary:
    """One program: its package, the folder of the module that requires it, extra linker flags, minutes on two cores."""

    name: str
    package: str
    module: str = "."
    flags: str = ""
    minutes: float = 0.5
    cgo: bool = field(default=False, repr=False)
    """Whether it calls a library of C, which takes gcc. The caches' keys are older than this field."""


BINARIES = (
    Binary("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", flags=STAMP, minutes=5),
    Binary("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", flags=STAMP),
    Binary("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", flags=STAMP, minutes=1),
    Binary("kubelet", "k8s.io/kubernetes/cmd/kubelet", flags=STAMP),
    Binary("deviceplugin", "./deviceplugin", minutes=0.1),
    Binary("containerd", f"{CONTAINERD_PACKAGES}/containerd", "containerd", CONTAINERD_STAMP, minutes=1),
    Binary("containerd-shim-runc-v2", f"{CONTAINERD_PACKAGES}/containerd-shim-runc-v2", "containerd", CONTAINERD_STAMP),
    Binary("ctr", f"{CONTAINERD_PACKAGES}/ctr", "containerd", CONTAINERD_STAMP, minutes=0.2),
    Binary("helm", "helm.sh/helm/v3/cmd/helm", module="helm", minutes=1.5),
)

TRAINING_OPERATOR = Binary(
    "training-operator",
    "github.com/kubeflow/training-operator/cmd/training-operator.v1",
    module="training-operator",
    minutes=1.5,
)
JOBSET = Binary("jobset", "sigs.k8s.io/jobset", module="jobset", minutes=1.5)
TRAINER = Binary(
    "trainer", "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager", module="trainer", minutes=1.5
)
NODE_EXPORTER = Binary(
    "node_exporter",
    "github.com/prometheus/node_exporter",
    module="node_exporter",
    flags="-X github.com/prometheus/common/version.Version=1.11.1",
)
MIG_PARTED = Binary(
    "nvidia-mig-parted", "github.com/NVIDIA/mig-parted/cmd/nvidia-mig-parted", module="mig-parted", cgo=True
)
ON_DEMAND = (TRAINING_OPERATOR, JOBSET, TRAINER, NODE_EXPORTER, MIG_PARTED)
"""These are built only for tests that need them."""


def cache_key(binary: Binary, go_version: str, sources: dict[str, bytes]) -> str:
    """Return what distinguishes this build of a program: a digest of everything that it depends on."""
    digest = hashlib.sha256(f"{go_version}\n{binary!r}\n".encode())
    for name in sorted(sources):
        digest.update(f"{name} {len(sources[name])}\n".encode() + sources[name])
    return digest.hexdigest()[:16]


def read_sources(binary: Binary) -> dict[str, bytes]:
    """Return what decides the outcome: the module's requirements and checksums, and the program's Go code if ours."""
    module = HERE / binary.module
    wanted = [module / "go.mod", module / "go.sum"]
    if binary.package.startswith("./"):
        wanted += (module / binary.package).glob("*.go")
    return {str(path.relative_to(HERE)): path.read_bytes() for path in wanted}


def ensure(cache: Path, say: Callable[[str], None] = print, binaries: Sequence[Binary] = BINARIES) -> dict[str, Path]:
    """Return where each program lies, building those that the cache lacks.

    Two labs that start at once build once.  LabError when the disk is too small or Go fails; programs built before
    that are kept.  A killed build leaves only a `.building-` folder, and the next build removes that.
    """
    chosen = toolchain.find()
    keys = {binary: cache_key(binary, chosen.version, read_sources(binary)) for binary in binaries}
    done = {binary: cache / "tools" / f"{binary.name}-{key}" for binary, key in keys.items()}
    if not all(path.exists() for path in done.values()):
        (cache / "tools").mkdir(parents=True, exist_ok=True)
        with _alone(cache / "tools" / ".building.lock"):
            _build(chosen, {binary: path for binary, path in done.items() if not path.exists()}, cache / "tools", say)
    return {binary.name: _given(binary.name) or path for binary, path in done.items()}


def _given(name: str) -> Path | None:
    """A program of the person's own: LAB_TOOLS names a folder, such as one with another release of Kubernetes."""
    path = Path(os.environ.get("LAB_TOOLS") or os.devnull) / name
    return path if path.is_file() else None


def _build(chosen: toolchain.Toolchain, wanted: dict[Binary, Path], tools: Path, say: Callable[[str], None]) -> None:
    if not wanted:
        return
    for left in tools.glob(".building-*"):
        shutil.rmtree(left, ignore_errors=True)
    _refuse_small_disk(tools)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=tools) as work:
        minutes = sum(binary.minutes for binary in wanted)
        say(f"tools: building {len(wanted)} programs with Go {chosen.version}, once: about {minutes:.0f} minutes")
        go = toolchain.install(chosen, Path(work))
        for number, (binary, path) in enumerate(wanted.items(), 1):
            started = time.monotonic()
            _compile(go, binary, Path(work)).rename(path)
            say(f"tools: {number} of {len(wanted)}: {binary.name} took {time.monotonic() - started:.0f} s")


def _compile(go: Path, binary: Binary, work: Path) -> Path:
    out = work / binary.name
    command = [go, "build", "-ldflags", f"-s -w {binary.flags}".strip(), "-o", out, binary.package]
    env = {**environment(work), "CGO_ENABLED": str(int(binary.cgo))}
    done = twice(lambda: subprocess.run(command, cwd=HERE / binary.module, env=env, check=False))
    if done.returncode:
        raise LabError(
            f"{binary.name} could not be built: go build ended with {done.returncode}, and its own words stand above;"
            " the build needs the Go module proxy (GOPROXY) when it runs for the first time"
        )
    return out


def twice(run: Callable[[], subprocess.CompletedProcess[Any]]) -> subprocess.CompletedProcess[Any]:
    """Run what may download, and once more if it fails: a connection breaks off at times, and Go does not try again."""
    done = run()
    return run() if done.returncode else done


def environment(work: Path) -> dict[str, str]:
    """Keep the user's own Go caches out of it; LAB_GO_CACHE names a folder to keep for developers of the lab."""
    caches = Path(os.environ.get("LAB_GO_CACHE") or work)
    return {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "-mod=readonly -trimpath -buildvcs=false -modcacherw",
        "GOMODCACHE": str(caches / "mod"),
        "GOCACHE": str(caches / "cache"),
        "GOTMPDIR": str(work),
    }


def _refuse_small_disk(directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if free < FREE_BYTES_NEEDED:
        raise LabError(
            f"{directory} has {free >> 30} GiB free, but building the tools takes {FREE_BYTES_NEEDED >> 30} GiB for a"
            " while; free some, or set LAB_CACHE to a larger disk"
        )


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield

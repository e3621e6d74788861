# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Build the lab's Kubernetes binaries, helm and the device plugin, once, into a cache.

Versions and checksums are pinned by the two go.mod/go.sum pairs beside this file: one for Kubernetes and the device
plugin, one for helm, whose requirements differ.  The cache key covers them, our own Go sources and the Go version.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.tools import toolchain

HERE = Path(__file__).parent
KUBERNETES = "v1.36.3"
FREE_BYTES_NEEDED = 6 << 30
STAMP = f"-X k8s.io/component-base/version.gitVersion={KUBERNETES}"


@dataclass(frozen=True)
class Binary:
    """One program: its package, the folder of the module that requires it, extra linker flags, minutes on two cores."""

    name: str
    package: str
    module: str = "."
    flags: str = ""
    minutes: float = 0.5


BINARIES = (
    Binary("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", flags=STAMP, minutes=5),
    Binary("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", flags=STAMP),
    Binary("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", flags=STAMP, minutes=1),
    Binary("kubelet", "k8s.io/kubernetes/cmd/kubelet", flags=STAMP),
    Binary("deviceplugin", "./deviceplugin", minutes=0.1),
    Binary("helm", "helm.sh/helm/v3/cmd/helm", module="helm", minutes=1.5),
)


def cache_key(go_version: str, sources: dict[str, bytes]) -> str:
    """Return the cache folder's name: a digest of everything that the binaries depend on."""
    digest = hashlib.sha256(f"{go_version}\n{BINARIES!r}\n".encode())
    for name in sorted(sources):
        digest.update(f"{name} {len(sources[name])}\n".encode() + sources[name])
    return digest.hexdigest()[:16]


def read_sources() -> dict[str, bytes]:
    """Return what decides the outcome: module files, checksums and our own Go code, by relative path."""
    wanted = [path for pattern in ("go.*", "*/go.*", "*/*.go") for path in HERE.glob(pattern)]
    return {str(path.relative_to(HERE)): path.read_bytes() for path in wanted}


def ensure(cache: Path, say: Callable[[str], None] = print) -> Path:
    """Return the folder with all binaries, building them when the cache lacks them.

    Two labs that start at once build once.  Raises OSError when the disk is too small and CalledProcessError when Go
    fails; a build that was killed leaves only a `.building-` folder, which the next build removes.
    """
    chosen = toolchain.find()
    done = cache / "tools" / cache_key(chosen.version, read_sources())
    if done.is_dir():
        return done / "bin"
    done.parent.mkdir(parents=True, exist_ok=True)
    with _alone(done.parent / ".lock"):
        if not done.is_dir():
            _build(chosen, done, say)
    return done / "bin"


def _build(chosen: toolchain.Toolchain, done: Path, say: Callable[[str], None]) -> None:
    for left in done.parent.glob(".building-*"):
        _remove(left)
    _refuse_small_disk(done.parent)
    work = Path(tempfile.mkdtemp(prefix=".building-", dir=done.parent))
    try:
        go = toolchain.install(chosen, work)
        say(f"tools: building {len(BINARIES)} programs with Go {chosen.version}, once; about 9 minutes on two cores")
        for number, binary in enumerate(BINARIES, 1):
            started = time.monotonic()
            say(f"tools: {number}/{len(BINARIES)} {binary.name} (about {binary.minutes:g} min)")
            _compile(go, binary, work)
            say(f"tools: {number}/{len(BINARIES)} {binary.name} built in {time.monotonic() - started:.0f} s")
        (work / "result").rename(done)
    finally:
        _remove(work)


def _compile(go: Path, binary: Binary, work: Path) -> None:
    out = work / "result" / "bin"
    out.mkdir(parents=True, exist_ok=True)
    flags = f"-s -w {binary.flags}".strip()
    command = [go, "build", "-ldflags", flags, "-o", out / binary.name, binary.package]
    subprocess.run(command, cwd=HERE / binary.module, env=_environment(work), check=True)


def _environment(work: Path) -> dict[str, str]:
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
        raise OSError(
            f"{directory} has {free >> 30} GiB free, but building the tools takes {FREE_BYTES_NEEDED >> 30} GiB for a"
            " while; free some, or set LAB_CACHE to a larger disk"
        )


def _remove(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield

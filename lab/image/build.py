# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The image: one Debian tree and one package repository, built once and cached under the hash of their recipe."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.image import recipe, repository

PROGRESS = "lab-progress: "
# What apt prints for a mirror that has no name, no route or no answer.
UNREACHABLE = re.compile(
    r"Could not resolve|Temporary failure resolving|(Could not|Unable to|Cannot) (connect|initiate)"
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """Where a built image lies."""

    directory: Path

    @property
    def tree(self) -> Path:
        """The root file system that all hosts share, read-only, as the lowest overlay layer."""
        return self.directory / "tree"

    @property
    def packages(self) -> Path:
        """The flat package repository that hosts see as /srv/lab/apt."""
        return self.directory / "apt"


def cached(cache: Path) -> Image | None:
    """The image of the present recipe, or None when it has to be built first."""
    image = Image(cache / "image" / recipe.key())
    return image if image.directory.is_dir() else None


def ensure(cache: Path, say: Say) -> Image:
    """The image of the present recipe; builds it when the cache has none (LabError when that fails)."""
    with _only_builder(cache, say):
        if image := cached(cache):
            return image
        final = cache / "image" / recipe.key()
        for stale in final.parent.glob("*.partial"):
            shutil.rmtree(stale)
        partial = final.with_name(f"{final.name}.partial")
        (partial / "apt").mkdir(parents=True)
        _build(partial, say)
        partial.rename(final)
        return Image(final)


@contextmanager
def _only_builder(cache: Path, say: Say) -> Iterator[None]:
    """One builder per cache at a time; the kernel gives the lock back however this process ends."""
    (cache / "image").mkdir(parents=True, exist_ok=True)
    with (cache / "image.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another lab that builds the image")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(partial: Path, say: Say) -> None:
    packages = recipe.packages()
    started = time.monotonic()

    def timed(line: str) -> None:
        say(f"image: {time.monotonic() - started:5.1f} s  {line}")

    timed(f"building a Debian {packages['suite']} tree (once; about a minute)")
    _mmdebstrap(packages, partial, timed)
    count = repository.index(partial / "apt", partial / "tree")
    # apt takes the age of this directory for the age of its lists, and a fresh image has none.
    os.utime(partial / "tree/var/lib/apt/lists", (86400, 86400))
    timed(f"done: {count} packages in the hosts' repository")


def _mmdebstrap(packages: recipe.Packages, partial: Path, timed: Say) -> None:
    """Run the builder and pass its milestones on; its whole log stays beside the partial tree when it fails."""
    argv = recipe.builder(packages, partial / "tree")
    environment = os.environ | {"DEBS": str(partial / "apt"), "LAB_REPOSITORY": " ".join(packages["repository"])}
    log = partial.with_suffix(".log")
    with (
        log.open("w") as file,
        subprocess.Popen(
            argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            file.write(line)
            if line.startswith((PROGRESS, "I: ")):
                timed(line.removeprefix(PROGRESS).removeprefix("I: ").rstrip())
    if process.returncode:
        raise LabError(f"the image could not be built, {why(log.read_text())}; its whole log is {log}")


def why(log: str) -> str:
    """The reason of a failed build and its repair, from the builder's log."""
    if UNREACHABLE.search(log):
        return "because no package mirror answers: connect this machine, or set LAB_MIRROR to a mirror that it reaches"
    if "No space left on device" in log:
        return "because the disk is full: make room, or set LAB_CACHE to a directory on another disk"
    last = "; ".join(log.splitlines()[-3:]) or "no output"
    return f"because mmdebstrap failed ({last}): run it again once that is repaired"

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What tests of modules that mount, and of those of two clusters, share."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_site import Clusters

CLONE_NEWNS = 0x00020000
LIBC = ctypes.CDLL(None, use_errno=True)


def change_namespace(rc: int) -> None:
    """Raise what a call into libc met; os has these calls since Python 3.12 alone."""
    if rc != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@pytest.fixture
def own_mounts() -> Iterator[None]:
    """Give this process mounts of its own until the test ends."""
    before, directory = os.open("/proc/self/ns/mnt", os.O_RDONLY), Path.cwd()
    change_namespace(LIBC.unshare(CLONE_NEWNS))
    try:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        yield
    finally:
        change_namespace(LIBC.setns(before, CLONE_NEWNS))
        os.close(before)
        os.chdir(directory)


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Clusters:
    return Clusters(tmp_path, monkeypatch, capfd)

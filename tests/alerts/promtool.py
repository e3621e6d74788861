# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prometheus and its own tool for rules and metrics."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache/promtool"


def promtool(words: Sequence[str], text: str = "") -> tuple[int, str]:
    """Exit code and output of a command line."""
    done = subprocess.run(
        [program("promtool"), *words], input=text, capture_output=True, text=True, check=False, timeout=600
    )
    return done.returncode, done.stdout + done.stderr


def program(name: str) -> str:
    """The machine's promtool or prometheus, or that of Debian's package, unpacked: to install it would start it."""
    if found := shutil.which(name) or shutil.which(name, path=str(CACHE)):
        return found
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            # since Debian 13 promtool has a package of its own
            _run(["apt-get", "download", name], folder)
        except AssertionError:
            _run(["apt-get", "download", "prometheus"], folder)
        (package,) = Path(folder).glob("*.deb")
        _run(["dpkg-deb", "--extract", str(package), folder], folder)
        return str(shutil.move(Path(folder) / "usr/bin" / name, CACHE / name))


def _run(argv: Sequence[str], folder: str) -> None:
    try:
        subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as err:
        said = getattr(err, "stderr", "") or ""
        raise AssertionError(
            f"{' '.join(argv)} failed ({err} {said}): put Prometheus and its promtool into PATH"
        ) from err

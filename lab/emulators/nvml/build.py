# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile the emulated library into the cache, once."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from lab.errors import LabError

HERE = Path(__file__).resolve().parent
LIBRARY = "libnvidia-ml.so.1"
COMMAND = ("gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")


def ensure(cache: Path) -> Path:
    """Return the library, compiling it when the cache lacks it; LabError when no C compiler works."""
    sources = sorted([*HERE.glob("*.c"), *HERE.glob("*.h")])
    digest = hashlib.sha256(repr([(path.name, path.read_text()) for path in sources]).encode())
    done = cache / "nvml" / digest.hexdigest()[:16] / LIBRARY
    if not done.exists():
        done.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".compiling-", dir=done.parent) as work:
            partial = Path(work) / LIBRARY
            _compile([path for path in sources if path.suffix == ".c"], partial)
            partial.rename(done)
    return done


def _compile(sources: list[Path], library: Path) -> None:
    try:
        subprocess.run([*COMMAND, "-o", library, *sources], check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise LabError("gcc is missing, and the emulated NVML needs it: apt-get install gcc libc6-dev") from None
    except subprocess.CalledProcessError as error:
        raise LabError(f"the emulated NVML could not be compiled: {error.stderr.strip()}") from None

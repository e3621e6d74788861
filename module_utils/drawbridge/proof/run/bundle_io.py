# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The worker as one executable file: the program's own modules and the request, which Slurm copies to the nodes."""

from __future__ import annotations

import zipfile
from pathlib import Path

PYTHON = b"#!/usr/bin/python3 -I\n"
REQUEST = "request.json"
MAIN = """\
import os, sys, zipfile
file = sys.path[0]
with zipfile.ZipFile(file) as archive:
    request = archive.read("request.json").decode()
sys.dont_write_bytecode = True
from drawbridge.proof.run.worker_io import main
os.unlink(file)
sys.exit(main(request))
"""
"""All modules are read before the file goes."""


def bundle(sources: Path, request: str, to: Path) -> Path:
    """Write the file, whose modules are those below `sources`, the folder that has the package drawbridge."""
    with to.open("wb") as file:
        file.write(PYTHON)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            modules = [path.relative_to(sources) for path in sorted(sources.rglob("*.py"))]
            for path in modules:
                archive.write(sources / path, str(path))
            # an archive has no packages without this file
            packages = {parent / "__init__.py" for path in modules for parent in path.parents if parent.name}
            for path in sorted(packages - {*modules}):
                archive.writestr(str(path), "")
            archive.writestr(REQUEST, request)
            archive.writestr("__main__.py", MAIN)
    to.chmod(0o700)
    return to

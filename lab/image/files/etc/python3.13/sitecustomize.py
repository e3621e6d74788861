# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of the lab keep what they compile of Ansible's archives, for a few processors run the modules of all hosts.

Ansible sends each module as an archive with its libraries. Python keeps what it compiles of other files, but compiles
these each time: a third of what a module costs. Here code is found again by a hash of its source.
"""

from __future__ import annotations

import _imp
import marshal
import os
import zipimport
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType

FOLDER = os.environ.get("LAB_COMPILED", "/var/cache/lab-compiled")
_disk = SourceFileLoader("lab", FOLDER)
_version = int.from_bytes(MAGIC_NUMBER, "little")
_compile = vars(zipimport)["_compile_source"]
_is_now_at = vars(_imp)["_fix_co_filename"]


def compile_once(path: str, source: bytes) -> CodeType:
    """What zipimport makes of a file in an archive. Who may not write to the folder compiles each time."""
    kept = f"{FOLDER}/{_imp.source_hash(_version, source).hex()}"
    try:
        code = marshal.loads(_disk.get_data(kept))
        _is_now_at(code, path)
    except (OSError, EOFError, ValueError, TypeError):
        code = _compile(path, source)
        _disk.set_data(kept, marshal.dumps(code), _mode=0o600)
    return code


zipimport.__dict__["_compile_source"] = compile_once

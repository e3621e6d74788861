# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Take steps in the guest and print their results as JSON. A step is a command line, or options of the module."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.modules import mlnx_qos


def taken(step: list[str] | dict[str, Any]) -> list[Any] | dict[str, Any]:
    """Exit code and output of a command; the module's result."""
    if isinstance(step, list):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        return [done.returncode, done.stdout, done.stderr]
    printed = io.StringIO()
    with patch_module_args(step), contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        mlnx_qos.main()
    return json.loads(printed.getvalue())


if __name__ == "__main__":
    print(json.dumps([taken(step) for step in json.loads(Path(sys.argv[1]).read_text())]))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's program: gate open|end|deliver_token|close|reconcile|boot."""

import os
import sys
from pathlib import Path

# Compiled code is in /run: in the sources' directory it would look like a change of the program. Code that another user
# compiled is not run.
CACHE = "/run/drawbridge/compiled"
try:
    own = Path(CACHE).stat().st_uid == os.geteuid()
except FileNotFoundError:
    own = True
sys.pycache_prefix, sys.dont_write_bytecode = (CACHE if own else None), not own
sys.path.insert(0, "/usr/local/lib/drawbridge")

from gate.__main__ import main  # noqa: E402  # found only behind the line above

sys.exit(main(sys.argv[1:]))

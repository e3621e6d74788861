# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of the cluster's nodes, and drift: drawbridge --help."""

import sys
from importlib import import_module
from pathlib import Path

# beside the sources it would look like a change of them, and users may not write there
sys.dont_write_bytecode = True
here = Path(__file__).resolve().parent
checkout = (here / "status").is_dir()
sys.path.insert(0, str(here.parent) if checkout else "/usr/local/lib/drawbridge-status")

sys.exit(import_module("files.status.__main__" if checkout else "drawbridge.status.__main__").main(sys.argv[1:]))

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pods for a Slurm job: drawbridge-run --help."""

import sys

# beside the sources it would look like a change of them, and users may not write there
sys.dont_write_bytecode = True
sys.path.insert(0, "/usr/local/lib/drawbridge-run")

from drawbridge.run.__main__ import main  # noqa: E402  # found only behind the line above

sys.exit(main(sys.argv[1:]))

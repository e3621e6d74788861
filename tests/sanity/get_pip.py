# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts pip into an environment of ansible-test from Python's own copy. Otherwise that would be a download."""

from __future__ import annotations

import ensurepip
import subprocess
import sys

FOREIGN = ("--no-setuptools", "--no-wheel")
"""Options of that other bootstrap; this one installs neither."""

ensurepip.bootstrap(upgrade=True)
words = [word for word in sys.argv[1:] if word not in FOREIGN]
sys.exit(subprocess.run([sys.executable, "-m", "pip", "install", *words], check=False).returncode)

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a part has failed, in a few lines of its log: they end the output of a run, where a reader looks first."""

from __future__ import annotations

import re
from collections.abc import Sequence

AT_MOST, LETTERS = 5, 400
_SAID = re.compile(
    r"^(?:FAILED |ERROR |fatal: |\[ERROR\]: |CRITICAL |E   \w)|[:-] error: | was killed: |^\S+:\d+:\d+: "
)
"""Lines of pytest's summary, its exceptions, of Ansible and molecule, of compilers and linters, and of this runner."""
_NEXT = r"Origin: |fatal: |failed: |\[\w+\]: |PLAY |TASK |FAILED |ERROR |CRITICAL |E   "
_MESSAGE = re.compile(rf"^\[ERROR\]: .*?(?=^(?:{_NEXT})|\Z)", re.MULTILINE | re.DOTALL)
"""A message of Ansible to its end: its further lines have an action's findings."""


def _joined(log: str) -> str:
    return _MESSAGE.sub(lambda found: " ".join(found[0].split()) + "\n", log)


def reasons(log: str) -> Sequence[str]:
    """The lines of a part's log that say what failed, pytest's summary first; its last line if none does.

    Examples:
        >>> reasons("E   AssertionError: no\\nFAILED test_a.py::test_a - AssertionError: no\\n1 failed\\n")
        ['FAILED test_a.py::test_a - AssertionError: no', 'E   AssertionError: no']
    """
    lines = [line.strip() for line in _joined(log).splitlines() if line.strip()]
    said = dict.fromkeys(line[:LETTERS] for line in lines if _SAID.search(line))
    first = sorted(said, key=lambda line: not line.startswith(("FAILED ", "ERROR ")))
    return first[:AT_MOST] or [line[:LETTERS] for line in lines[-1:]]

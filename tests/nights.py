# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""tests/nightly.yml: how each part of the night ended when it was last run, and at which commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "nightly.yml"
HEAD = """---
# `make nightly` writes this file: commit it with what you have changed. Rows without minutes are older than the file.
"""


def note(ended: Mapping[str, tuple[bool, float]], commit: str, file: Path = FILE) -> None:
    """Write how parts ended: whether they passed, and the seconds that they took. Other parts keep their rows."""
    if not ended:
        return
    known = yaml.safe_load(file.read_text()) if file.exists() else {}
    day = datetime.now(UTC).date().isoformat()
    rows = {
        name: {"passed": passed, "on": day, "commit": commit, "minutes": round(seconds / 60)}
        for name, (passed, seconds) in ended.items()
    }
    text = yaml.safe_dump({**known, **rows}, sort_keys=True, default_flow_style=None, width=120)
    file.write_text(HEAD + text)

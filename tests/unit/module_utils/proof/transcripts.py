# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of measuring tools, written from the sources of the tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.tree import ROOT


def printed(name: str) -> str:
    """A transcript without its first line, which names the source."""
    return (ROOT / f"tests/transcripts/proof/{name}.txt").read_text().partition("\n")[2]


def changed(text: str, old: str, new: str) -> str:
    """The text with another part. A part that is not in it fails the test."""
    assert old in text
    return text.replace(old, new)


def near(value: float) -> Any:
    """Compares equal to the value, apart from rounding."""
    return pytest.approx(value)

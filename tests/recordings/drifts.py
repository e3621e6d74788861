# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The planted drifts of drifts.yml, and what a report says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.hostlist import expand


class Named(NamedTuple):
    """A sentence about a host."""

    layer: str
    host: str
    text: str


class Drift(NamedTuple):
    """A row of drifts.yml."""

    layer: str
    host: str
    plant: str
    says: list[str]
    typed_on: str = ""

    def expected(self) -> Iterator[Named]:
        """The sentences with which a check names it."""
        return (Named(self.layer, host, text) for host in expand(self.host) for text in self.says)


DRIFTS = [Drift(**row) for row in yaml.safe_load(Path(__file__).with_name("drifts.yml").read_text())]


def named(report: Mapping[str, Any]) -> set[Named]:
    """All that a report names, for each host."""
    found = report["findings"]
    return {Named(one["layer"], host, one["text"]) for one in found for host in expand(one["hosts"]) or [""]}


def differences(report: Mapping[str, Any]) -> tuple[list[Named], list[Named]]:
    """Drifts that the report does not name, and what it names beside them."""
    seen, wanted = named(report), {one for drift in DRIFTS for one in drift.expected()}
    unseen = [want for want in wanted if not any(_is(one, want) for one in seen)]
    return sorted(unseen), sorted(one for one in seen if not any(_is(one, want) for want in wanted))


def _is(one: Named, want: Named) -> bool:
    return one[:2] == want[:2] and want.text in one.text

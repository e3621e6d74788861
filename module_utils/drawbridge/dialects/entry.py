# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What stands at a path of a host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A file, or a directory where `content` is None. `mode` as chmod writes it, such as "0644"."""

    content: str | None
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"

    def lines(self, path: str) -> list[str]:
        """The entry as lines of a diff."""
        head = f"{path} {self.mode} {self.owner}:{self.group}"
        return [head] if self.content is None else [head, *(f"    {line}" for line in self.content.splitlines())]

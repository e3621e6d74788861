# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What describe.yml writes, beside the intent that a site has: answers for its questions, and what differs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

QUESTION, KEY = re.compile(r"# QUESTION: (\w+): .*"), re.compile(r"(- )?(\w+):")


def shipped(inventory: Path) -> dict[str, Any]:
    """The intent of an inventory."""
    files = (inventory / "group_vars/all").glob("*.yml")
    loaded = (yaml.safe_load(file.read_text()) or {} for file in files)
    return {key: value for part in loaded for key, value in part.items() if key.startswith("drawbridge_")}


def bare(inventory: Path, folder: Path) -> Path:
    """An inventory with hosts in groups, and nothing else."""
    shutil.copy(inventory / "hosts.yml", folder)
    return folder


def proposed(folder: Path, answers: Any) -> dict[str, Any]:
    """The intent that describe.yml wrote into a folder, with answers."""
    files = (folder / "group_vars/all").glob("*.yml")
    parts = (yaml.safe_load(answered(file.read_text(), answers)) or {} for file in files)
    return {key: value for part in parts for key, value in part.items()}


def keep(inventory: Path, intent: Mapping[str, Any]) -> None:
    """Give an inventory an intent."""
    (inventory / "group_vars/all").mkdir(parents=True)
    (inventory / "group_vars/all/intent.yml").write_text(yaml.safe_dump(dict(intent)))


def answered(text: str, answers: Any) -> str:
    """The text with a line for each question. Of a list, the entries are those of the answers in the same order."""
    lines: list[str] = []
    places: list[tuple[int, Any]] = [(-1, answers)]
    entries: dict[int, int] = {}
    for line in text.splitlines():
        words = line.lstrip(" ")
        indent = line[: len(line) - len(words)]
        while places[-1][0] >= len(indent):
            places.pop()
        entries = {depth: number for depth, number in entries.items() if depth <= len(indent)}
        asked, key = QUESTION.fullmatch(words), KEY.match(words)
        if asked:
            line = f"{indent}{asked[1]}: {json.dumps(places[-1][1][asked[1]])}"
        elif key and key[1]:
            number = entries[len(indent)] = entries.get(len(indent), -1) + 1
            places.append((len(indent), places[-1][1][number]))
        elif key:
            places.append((len(indent), places[-1][1].get(key[2], {})))
        lines.append(line)
    return "\n".join(lines) + "\n"


def missing(described: Any, intent: Any, path: str = "") -> Iterator[str]:
    """Keys that `described` has and `intent` lacks."""
    if isinstance(described, Mapping):
        for key, value in described.items():
            yield from missing(value, intent.get(key), f"{path}.{key}") if intent else [f"{path}.{key}"]
    elif isinstance(described, list) and isinstance(intent, list):
        for number, (value, other) in enumerate(zip(described, intent, strict=True)):
            yield from missing(value, other, f"{path}[{number}]")
    elif described != intent:
        yield f"{path}: {described}, not {intent}"

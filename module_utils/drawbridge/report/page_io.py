# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML page that loads nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.quantities import duration
from .collect import CHANGED, FAILED, PENDING, REFUSED, UNREACHABLE
from .fold import Document, of_kind
from .sentences import LONGEST, TITLES, place, sentences, steps_of_person, summary, title
from .shorten import shortened

TEMPLATE = "page.html.j2"
REPOSITORY = "https://github.com/drawbridge/drawbridge/blob/main"
"""Where a browser finds the guides; the page itself loads nothing from there."""
STYLE = Path(__file__).resolve().parents[1] / "core/page.css"
"""Shared with the page of a proof."""
ROOT = Path(__file__).resolve().parents[3]
ORDER = sorted(TITLES, key=lambda kind: (kind == CHANGED, kind == PENDING))
"""A terminal shows the end of a text, a browser its begin: findings that need a person come first."""


def as_page(report: Document) -> str:
    """The page."""
    # imported here, because only the machine that runs Ansible has it
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(Path(__file__).with_name(TEMPLATE).read_text(encoding="utf-8"))
    sections = [(kind, title(report, kind), of_kind(report, kind)) for kind in ORDER]
    sections.append(("gone", f"Gone since {report.get('since')}", list(report.get("gone", ()))))
    shown = [(kind, name, _by_layer(found)) for kind, name, found in sections if found]
    worst = "bad" if of_kind(report, REFUSED, FAILED, UNREACHABLE) else "changed" if report["findings"] else "good"
    return template.render(
        style=Markup(STYLE.read_text(encoding="utf-8").rstrip()),
        report=report,
        summary=summary(report),
        next=steps_of_person(report),
        sections=shown,
        counts=_counts(shown),
        worst=worst,
        place=place,
        longest=LONGEST,
        repository=REPOSITORY,
        guide=_guide,
        sentences=sentences,
        duration=duration,
    )


def _guide(layer: str) -> str:
    """The page of a layer; empty for one that is no role, or a role of the site."""
    path = f"roles/{layer}/README.md"
    return path if (ROOT / path).is_file() else ""


def _counts(sections: Sequence[tuple[str, str, Mapping[str, Sequence[Any]]]]) -> dict[str, dict[str, int]]:
    """Lines by layer, then by kind of finding."""
    layers = dict.fromkeys(layer for _kind, _name, found in sections for layer in found)
    return {layer: {kind: len(found.get(layer, ())) for kind, _name, found in sections} for layer in layers}


def _by_layer(found: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Shortened findings by layer, in the order of the run."""
    layers: dict[str, list[dict[str, Any]]] = {}
    for one in shortened(found):
        layers.setdefault(one["layer"], []).append(one)
    return layers

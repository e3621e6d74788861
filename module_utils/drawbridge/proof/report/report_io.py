# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of a proof's report: JSON, JUnit XML, the summary, and one HTML page that loads nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ...core.files import write_bytes
from ..result import Result
from .junit import xml
from .page import view
from .summary import text

TEMPLATE, STYLE = Path(__file__).with_name("page.html.j2"), Path(__file__).parents[2] / "core/page.css"
RESULT, JUNIT, SUMMARY, PAGE = "proof.json", "proof.xml", "proof.txt", "proof.html"
READABLE = 0o644
"""A report has no secrets."""


def as_json(result: Result) -> str:
    """The result, as docs/proof.schema.json describes it."""
    return json.dumps(result.to_json(), indent=1) + "\n"


def as_page(result: Result, last: Result | None = None) -> str:
    """The page. It needs jinja2, which the machine that runs Ansible has."""
    # imported here, because a Slurm controller may lack it
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(style=Markup(STYLE.read_text(encoding="utf-8").rstrip()), **view(result, last))


def read(path: str) -> Result | None:
    """The result in this file; None if it is missing, or of another schema."""
    try:
        return Result.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write(folder: str, result: Result, last: Result | None = None, page: bool = True) -> list[str]:
    """Write the report's files and return their paths; each is replaced at once. `page` needs jinja2.

    Raises OSError.
    """
    contents = {RESULT: as_json(result), JUNIT: xml(result), SUMMARY: "\n".join(text(result, last)) + "\n"}
    if page:
        contents[PAGE] = as_page(result, last)
    for name, content in contents.items():
        # names of files and of processes may hold bytes that are no UTF-8
        data = content.encode("utf-8", errors="replace")
        write_bytes(Path(folder) / name, data, READABLE, (os.getuid(), os.getgid()))
    return [str(Path(folder) / name) for name in contents]

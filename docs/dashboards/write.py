# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the JSON of all dashboards, the page of questions, and pictures. `make dashboards` runs it."""

from __future__ import annotations

from docs.dashboards import picture, questions
from docs.dashboards.boards import BOARDS, FOLDER, file
from docs.dashboards.grafana import as_json


def main() -> None:
    """Replace all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for board in BOARDS:
        file(board).write_text(as_json(board), encoding="utf-8")
    questions.PAGE.write_text(questions.page(), encoding="utf-8")
    picture.draw()


if __name__ == "__main__":
    main()

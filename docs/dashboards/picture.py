# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of dashboards for the documentation: each panel's own queries, answered by a real Prometheus.

They are drawn by matplotlib and are no screenshots of Grafana. Places and sizes are those of the JSON.
"""

from __future__ import annotations

import datetime
import io
import json
import math
import re
import textwrap
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import DateFormatter, MinuteLocator
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PIL import Image

from docs.dashboards import example
from docs.dashboards.answers import Answer, Prometheus, answering
from docs.dashboards.boards import BOARDS, file, name

FOLDER = Path(__file__).resolve().parents[2] / "docs/images/dashboards"
SHOWN = ("fabric", "job")
Json = dict[str, Any]
INCH, DPI = 0.5, 100
TALL = 0.37
"""Width of a column of the grid, and height of a line of it."""
BACK, CARD, INK, FAINT = "#e9ebee", "#ffffff", "#1f2430", "#69707d"
"""The background is opaque, so that the picture reads the same on a light and on a dark page."""
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a6c00", "#5d3a9b")
"""By Okabe and Ito, readable with colour blindness; the last two are darker."""
STYLES = ("-", "--", ":")
"""By query of a panel."""
COLOURS_OF_FILE = 255
SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
WORDS = {"Bps": "B/s", "bytes": "B", "pps": "/s", "ops": "/s", "watt": "W", "celsius": "°C", "s": "s"}
VARIABLES = {"$__range": f"{example.SECONDS}s", "$__interval": "1m", "$__rate_interval": "5m", "$job": example.JOB}
END = example.START + example.SECONDS
LEGEND_LINES, LEGEND_LETTERS = 2, 44
"""Space below a picture for names of series: those with the highest last values have one."""


def draw() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    mpl.rcParams.update({"font.family": "DejaVu Sans", "font.size": 7.5, "svg.hashsalt": "drawbridge"})
    with answering(example.openmetrics()) as prometheus:
        for board in BOARDS:
            if name(board) in SHOWN:
                _save(_figure(json.loads(file(board).read_text()), prometheus), FOLDER / f"{name(board)}.png")


def _save(figure: Figure, place: Path) -> None:
    raw = io.BytesIO()
    figure.savefig(raw, dpi=DPI, facecolor=BACK)
    picture = Image.open(raw).convert("RGB").quantize(COLOURS_OF_FILE, dither=Image.Dither.NONE)
    picture.save(place, optimize=True)


def _figure(board: Json, prometheus: Prometheus) -> Figure:
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    figure = Figure((24 * INCH, height * TALL))
    for panel in board["panels"]:
        at = panel["gridPos"]
        pad = 0.05
        left, width = (at["x"] + pad) / 24, (at["w"] - 2 * pad) / 24
        bottom, tall = 1 - (at["y"] + at["h"] - pad) / height, (at["h"] - 2 * pad) / height
        card = figure.add_axes((left, bottom, width, tall), facecolor=BACK if panel["type"] == "row" else CARD)
        card.set(xticks=[], yticks=[], xlim=(0, at["w"]), ylim=(0, at["h"]))
        card.spines[:].set_visible(False)
        {"row": _row, "text": _text, "stat": _stat, "table": _table, "timeseries": _lines}[panel["type"]](
            card, panel, prometheus
        )
    return figure


def _title(card: Axes, panel: Json) -> None:
    tall = panel["gridPos"]["h"]
    card.text(0.2, tall - 0.35, panel["title"], va="top", weight="bold", color=INK, fontsize=8.5)


def _row(card: Axes, panel: Json, _: Prometheus) -> None:
    card.text(0.1, 0.45, panel["title"], va="center", weight="bold", color=INK, fontsize=10)


def _text(card: Axes, panel: Json, _: Prometheus) -> None:
    _title(card, panel)
    plain = re.sub(r"[*`]", "", panel["options"]["content"])
    blocks = [textwrap.fill(block, 150) for block in plain.split("\n\n")]
    card.text(0.2, panel["gridPos"]["h"] - 1.2, "\n".join(blocks), va="top", color=INK, linespacing=1.6)


def _asked(query: str) -> str:
    for word, value in VARIABLES.items():
        query = re.sub(rf"{re.escape(word)}\b", value, query)
    return re.sub(r'"\$\w+"', '".*"', query)


def _worded(value: float, unit: str) -> str:
    """A number with its unit, as short as Grafana writes it."""
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    for scale, letter in SCALES if unit != "s" else ():
        if abs(value) >= scale:
            return f"{value / scale:.3g} {letter}{WORDS.get(unit, '')}"
    return f"{value:.3g} {WORDS.get(unit, '')}".strip()


def _unit(panel: Json) -> str:
    return panel["fieldConfig"]["defaults"]["unit"]


def _stat(card: Axes, panel: Json, prometheus: Prometheus) -> None:
    _title(card, panel)
    found = [answer for target in panel["targets"] for answer in prometheus.now(_asked(target["expr"]), END)]
    said = _worded(found[0].values[0], _unit(panel)) if found else "no data"
    card.text(panel["gridPos"]["w"] / 2, 1.6, said, ha="center", va="center", color=COLOURS[0], fontsize=20)


def _table(card: Axes, panel: Json, prometheus: Prometheus) -> None:
    _title(card, panel)
    at = panel["gridPos"]
    found = [answer for target in panel["targets"] for answer in prometheus.now(_asked(target["expr"]), END)]
    if not found:
        card.text(at["w"] / 2, at["h"] / 2, "nothing found", ha="center", va="center", color=FAINT)
        return
    [change] = panel["transformations"]
    names = [*sorted(found[0].labels), change["options"]["renameByName"]["Value"]]
    rows = [
        [*(answer.labels[label] for label in names[:-1]), _worded(answer.values[0], _unit(panel))] for answer in found
    ]
    # the number's column is wide, because its heading says what it is
    widths = [1.0] * (len(names) - 1) + [max(1.6, len(names[-1]) / 11)]
    starts = [0.2 + sum(widths[:place]) * (at["w"] - 0.4) / sum(widths) for place in range(len(names))]
    for start, word in zip(starts, names, strict=True):
        card.text(start, at["h"] - 1.45, word, va="top", color=FAINT)
    room = int((at["h"] - 2.3) / 0.85)
    shown = rows if len(rows) <= room else rows[: room - 1]
    for line, row in enumerate(shown):
        for start, word in zip(starts, row, strict=True):
            card.text(start, at["h"] - 2.3 - line * 0.85, word, va="top", color=INK)
    if len(rows) > len(shown):
        card.text(0.2, at["h"] - 2.3 - len(shown) * 0.85, f"and {len(rows) - len(shown)} more", va="top", color=FAINT)


def _lines(card: Axes, panel: Json, prometheus: Prometheus) -> None:
    _title(card, panel)
    at, unit = panel["gridPos"], _unit(panel)
    series: list[tuple[str, Answer]] = []
    styles: list[str] = []
    for target, style in zip(panel["targets"], STYLES, strict=False):
        answers = prometheus.over_time(_asked(target["expr"]), example.START, END, 60)
        named = [(_named(target["legendFormat"], answer), answer) for answer in answers]
        series += sorted(named, key=lambda pair: pair[0])
        styles += [style] * len(named)
    low = 2.1 if len(series) > 1 else 1.2
    place = card.inset_axes((1.25, low, at["w"] - 1.7, at["h"] - low - 1.3), transform=card.transData)
    stacked = panel["fieldConfig"]["defaults"]["custom"].get("stacking", {}).get("mode") == "normal"
    _plot(place, series, styles, stacked)
    place.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _worded(value, unit)))
    top = panel["fieldConfig"]["defaults"].get("max")
    place.set_ylim(0, top * 1.03 if top else None)
    if not top and place.get_ylim()[1] < 0.1:
        place.set_ylim(0, 1)
    if len(series) > 1:
        handles, labels, columns = _legend(place, series)
        card.legend(
            handles,
            labels,
            loc="lower left",
            ncols=columns,
            frameon=False,
            fontsize=6.5,
            handlelength=1.2,
            columnspacing=1.0,
            labelspacing=0.2,
            borderaxespad=0.1,
            labelcolor=INK,
        )


def _legend(place: Axes, series: list[tuple[str, Answer]]) -> tuple[list[Any], list[str], int]:
    """Handles and labels that have room, the highest first, and columns."""
    handles, labels = place.get_legend_handles_labels()
    last = {label: answer.values[-1] for label, answer in series}
    ranked = list(zip(handles, labels, strict=True))
    columns = max(1, min(4, LEGEND_LETTERS // (3 + max(map(len, labels)))))
    if len(ranked) > columns * LEGEND_LINES:
        ranked.sort(key=lambda pair: -last[pair[1]])
    shown = ranked[: columns * LEGEND_LINES]
    return [handle for handle, _ in shown], [label for _, label in shown], columns


def _with_gaps(answer: Answer) -> Answer:
    """With a missing value where the series has none, so that no line is drawn over it."""
    values = dict(zip(answer.times, answer.values, strict=True))
    times = [float(at) for at in range(int(answer.times[0]), int(answer.times[-1]) + 1, example.STEP)]
    return Answer(answer.labels, times, [values.get(at, math.nan) for at in times])


def _named(legend: str, answer: Answer) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: answer.labels.get(found[1], ""), legend)


def _plot(place: Axes, series: list[tuple[str, Answer]], styles: list[str], stacked: bool) -> None:
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(series))]
    series = [(label, _with_gaps(answer)) for label, answer in series]
    times = [[datetime.datetime.fromtimestamp(at, datetime.UTC) for at in answer.times] for _, answer in series]
    if stacked and series:
        place.stackplot(
            times[0], *(it.values for _, it in series), labels=[it for it, _ in series], colors=colours, alpha=0.8
        )
    else:
        for (label, answer), when, colour, style in zip(series, times, colours, styles, strict=True):
            place.plot(when, answer.values, style, color=colour, linewidth=1.1, label=label)
    place.set_facecolor(CARD)
    place.spines[["top", "right"]].set_visible(False)
    place.spines[["left", "bottom"]].set_color("#c3c8d0")
    place.tick_params(colors=FAINT, labelsize=6.5, length=2)
    place.set_axisbelow(True)
    place.grid(color="#e6e8ec", linewidth=0.6)
    place.xaxis.set_major_locator(MinuteLocator(byminute=(0, 30)))
    place.xaxis.set_major_formatter(DateFormatter("%H:%M", tz=datetime.UTC))
    place.yaxis.set_major_locator(MaxNLocator(4))
    place.margins(x=0)

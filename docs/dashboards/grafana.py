# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dashboards as Grafana's JSON, by its Foundation SDK, which only `make dashboards` installs."""

from __future__ import annotations

import json

from grafana_foundation_sdk.builders import common as parts
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, statetimeline, table, text, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import prometheus as formats

from docs.dashboards.model import WIDTH, Board, Panel, Row, Variable

DATASOURCE = models.DataSourceRef("prometheus", "${datasource}")
ALL = models.VariableOption(True, ["All"], ["$__all"])
ROW = "row"
COLUMNS = {
    "instance": ("/d/drawbridge-nodes?var-node=${__value.raw}&${__url_time_range}", "This node"),
    "job": ("/d/drawbridge-job?var-job=${__value.raw}&${__url_time_range}", "This job"),
    "node": ("/d/drawbridge-nodes?var-node=${__value.raw}&${__url_time_range}", "This node"),
}
"""Where a table's columns lead."""
LEFT_OUT = ("Time", "__name__")
RED = [models.Threshold(None, "red")]


def as_json(board: Board) -> str:
    """The file's text: the same for the same board, with sorted keys."""
    built = json.loads(json.dumps(_dashboard(board).build(), cls=JSONEncoder))
    return json.dumps(built, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _dashboard(board: Board) -> builders.Dashboard:
    found = (
        builders.Dashboard(board.title)
        .uid(board.uid)
        .description(board.about)
        .tags(list(board.tags))
        .timezone("browser")
        .time(board.since, "now")
        .refresh("1m")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(
            builders.DashboardLink("Drawbridge")
            .type(models.DashboardLinkType.DASHBOARDS)
            .tags(list(board.tags))
            .keep_time(True)
        )
        .with_variable(builders.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    )
    for variable in board.variables:
        found.with_variable(_variable(variable))
    found.with_panel(_reading(board))
    for row in board.rows:
        found.with_row(builders.Row(row.title).id(Panel(row.title, "", "stat", "", ()).number(ROW)))
        for panel in row.panels:
            found.with_panel(_panel(row, panel))
    return found


def _variable(variable: Variable) -> builders.QueryVariable:
    found = (
        builders.QueryVariable(variable.name)
        .label(variable.label)
        .datasource(DATASOURCE)
        .query(variable.query)
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC if variable.several else models.VariableSort.NUMERICAL_DESC)
    )
    if variable.several:
        found.multi(True).include_all(True).current(ALL)
        if not variable.listed:
            found.all_value(".*")
    return found


def _reading(board: Board) -> text.Panel:
    number = Panel("How to read it", "", "stat", "", ()).number("")
    return text.Panel().title("How to read it").id(number).content(board.reading.strip()).span(WIDTH).height(6)


def _panel(row: Row, panel: Panel) -> timeseries.Panel | stat.Panel | table.Panel | statetimeline.Panel:
    made = {"lines": _lines, "stat": _stat, "table": _table, "timeline": _timeline}[panel.kind](panel)
    made.title(panel.title).description(panel.about).id(panel.number(row.title)).datasource(DATASOURCE)
    made.unit(panel.unit).span(panel.span).height(panel.height).interval("1m")
    for at, query in enumerate(panel.queries):
        target = prometheus.Dataquery().expr(query.expr).ref_id("ABCDEFGH"[at]).datasource(DATASOURCE)
        if panel.kind == "table":
            target.instant().format(formats.PromQueryFormat.TABLE)
        elif panel.kind == "stat":
            target.instant()
        else:
            target.range().legend_format(query.legend)
        made.with_target(target)
    return made


def _lines(panel: Panel) -> timeseries.Panel:
    legend = parts.VizLegendOptions().display_mode(common.LegendDisplayMode.LIST).show_legend(True)
    made = (
        timeseries.Panel()
        .min(0)
        .line_width(1)
        .fill_opacity(60 if panel.stacked else 0)
        .show_points(common.VisibilityMode.NEVER)
        .legend(legend.placement(common.LegendPlacement.BOTTOM).calcs([]))
        .tooltip(parts.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING))
    )
    if panel.stacked:
        made.stacking(parts.StackingConfig().mode(common.StackingMode.NORMAL))
    return made if panel.top is None else made.max(panel.top)


def _stat(panel: Panel) -> stat.Panel:
    steps = [models.Threshold(None, "text")]
    if panel.red_from is not None:
        steps.append(models.Threshold(panel.red_from, "red"))
    return (
        stat.Panel()
        .graph_mode(common.BigValueGraphMode.NONE)
        .color_mode(common.BigValueColorMode.VALUE)
        .thresholds(builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
        .reduce_options(parts.ReduceDataOptions().calcs(["lastNotNull"]))
    )


def _table(panel: Panel) -> table.Panel:
    options = {
        "excludeByName": dict.fromkeys(LEFT_OUT, True),
        "indexByName": {},
        "renameByName": {"Value": panel.value},
    }
    organize = models.DataTransformerConfig("organize", options=options)
    made = table.Panel().show_header(True).no_value("nothing found").transformations([organize])
    for column in panel.links:
        url, title = COLUMNS[column]
        made.override_by_name(column, [models.DynamicConfigValue("links", [{"title": title, "url": url}])])
    return made


def _timeline(panel: Panel) -> statetimeline.Panel:
    return (
        statetimeline.Panel()
        .show_value(common.VisibilityMode.NEVER)
        .row_height(0.8)
        .no_value("no trouble")
        .color_scheme(builders.FieldColor().mode(models.FieldColorModeId.THRESHOLDS))
        .thresholds(builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(RED))
        .legend(parts.VizLegendOptions().show_legend(False))
    )

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a chart reads is found in its templates, however they say it: the trees that we ship are made so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.charts.reads import Tree, reads

ALL = {"*": {}}


def chart(folder: Path, template: str, about: str = "name: shop\n") -> Tree:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(about)
    (folder / "templates/all.yaml").write_text(template)
    return reads(folder)


@pytest.mark.parametrize(
    ("template", "tree"),
    [
        ("{{- .Values.a.b | default .Chart.AppVersion | quote -}}", {"a": {"b": {}}}),
        ("{{ $.Values.a }} {{ .Release.Name }} {{ .Chart.Version }}", {"a": {}}),
        ("{{/* .Values.old */}}{{ .Values.new }}", {"new": {}}),
        ('{{ "say .Values.text" }}', {}),
        ("{{ toYaml .Values.a | nindent 2 }}", {"a": ALL}),
        ("{{- with .Values.a }}{{ toYaml . }}{{ end }}{{ .Values.b }}", {"a": ALL, "b": {}}),
        ("{{- with .Values.a }}{{ with .b }}{{ .c }}{{ end }}{{ .d }}{{ end }}", {"a": {"b": {"c": {}}, "d": {}}}),
        ("{{- with .Values.a }}{{ .b }}{{ else }}{{ .Values.c }}{{ end }}", {"a": {"b": {}}, "c": {}}),
        ('{{- with .Values.a }}{{ if (hasKey . "b") }}x{{ end }}{{ end }}', {"a": {"b": {}}}),
        ('{{ if index .Values "a-b" "c" }}x{{ end }}', {"a-b": {"c": {}}}),
        ("{{ range .Values.a }}{{ .b }}{{ end }}", {"a": {"*": {}, "b": {}}}),
        ("{{ range $k, $v := .Values.a }}{{ $v.b }}{{ end }}", {"a": {"*": {}, "b": {}}}),
        (
            "{{ if and (.Values.a) (eq .Values.b.c nil) }}x{{ else if .Values.d }}y{{ end }}",
            {"a": {}, "b": {"c": {}}, "d": {}},
        ),
        ('{{ define "n" }}{{ .Values.a }}{{ end }}{{ include "n" . }}', {"a": {}}),
        ('{{ include "n" .Values.a }}', {"a": ALL}),
    ],
)
def test_however_a_template_says_it(tmp_path: Path, template: str, tree: Tree) -> None:
    assert chart(tmp_path / "shop", template) == tree


def test_charts_in_a_chart_read_below_their_name(tmp_path: Path) -> None:
    about = "name: shop\ndependencies: [{name: till, condition: till.enabled}, {name: far, condition: far.on}]\n"
    chart(tmp_path / "shop/charts/till", "{{ .Values.coins }}{{ .Values.global.secret }}", "name: till\n")
    assert chart(tmp_path / "shop", "{{ .Values.open }}", about) == {
        "open": {},
        "till": {"enabled": {}, "coins": {}},
        "far": {"on": {}},
        "global": {"secret": {}},
    }

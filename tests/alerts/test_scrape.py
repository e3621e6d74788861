# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The scrape configuration, as Prometheus' own tool judges it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    Prometheus,
    SlurmMetrics,
    Telemetry,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.scrape import (
    JOBS,
    TOKEN,
    Hosts,
    files,
)

from tests.alerts.promtool import promtool
from tests.unit.module_utils.site.test_refused import site

SCRAPE_FILES_SINCE = (2, 43)
HOSTS = Hosts({"ctl": "", "ops": "10.0.0.9"}, ["ctl"])


def version() -> tuple[int, ...]:
    _code, said = promtool(["--version"])
    return tuple(int(part) for part in said.split()[2].split("+")[0].split(".")[:2])


@pytest.mark.parametrize("inventory", ["lab", "example-bond", "example-mixed"])
def test_it_is_valid(inventory: str, tmp_path: Path) -> None:
    settings = Telemetry(
        slurm=SlurmMetrics(openmetrics=True, readers=("prometheus",)),
        prometheus=replace(Prometheus("ops"), folder=str(tmp_path)),
    )
    texts = files(load(site(inventory)).nodes, settings, HOSTS)
    for name, text in {**texts, TOKEN: "secret"}.items():
        (tmp_path / name).write_text(text)
    # older releases read the same text as a part of their own file
    own = f"scrape_config_files: [{JOBS}]\n" if version() >= SCRAPE_FILES_SINCE else texts[JOBS]
    (tmp_path / "prometheus.yml").write_text(own)
    code, said = promtool(["check", "config", str(tmp_path / "prometheus.yml")])
    assert code == 0, said
    assert "WARNING" not in said, said

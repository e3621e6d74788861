# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that answers queries from a text of OpenMetrics. For pictures; it scrapes nothing."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.alerts.promtool import program, promtool

PATIENCE_S = 120


@dataclass(frozen=True)
class Answer:
    """A series: its labels, and its values by time."""

    labels: dict[str, str]
    times: list[float]
    values: list[float]


class Prometheus:
    """One that runs."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"

    def ready(self) -> bool:
        """Whether it answers queries."""
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self._url}/-/ready", timeout=10) as answer:
            return answer.status == 200
        return False

    def over_time(self, query: str, start: float, end: float, step: float) -> list[Answer]:
        """The query at each step."""
        found = self._get("query_range", query=query, start=start, end=end, step=step)
        return [_answer(series["metric"], series["values"]) for series in found]

    def now(self, query: str, at: float) -> list[Answer]:
        """The query at one time."""
        return [_answer(series["metric"], [series["value"]]) for series in self._get("query", query=query, time=at)]

    def _get(self, path: str, **words: Any) -> list[Any]:
        body = urllib.parse.urlencode(words).encode()
        try:
            with urllib.request.urlopen(f"{self._url}/api/v1/{path}", body, timeout=60) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as err:
            raise ValueError(f"{words['query']}: {err.read().decode()}") from err


def _answer(labels: dict[str, str], pairs: list[tuple[float, str]]) -> Answer:
    return Answer(labels, [at for at, _ in pairs], [float(value) for _, value in pairs])


@contextlib.contextmanager
def answering(openmetrics: str) -> Iterator[Prometheus]:
    """A Prometheus with these series, until the end of the block."""
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        (folder / "site.txt").write_text(openmetrics)
        (folder / "prometheus.yml").write_text("{}\n")
        code, said = promtool(
            ["tsdb", "create-blocks-from", "openmetrics", str(folder / "site.txt"), str(folder / "data")]
        )
        if code:
            raise ValueError(said)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        argv = [
            program("prometheus"),
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with (folder / "log").open("w") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
            try:
                found = Prometheus(port)
                _wait(found, process, folder / "log")
                yield found
            finally:
                process.terminate()


def _wait(found: Prometheus, process: subprocess.Popen[Any], log: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while not found.ready():
        if process.poll() is not None or time.monotonic() > until:
            raise ValueError(f"Prometheus does not answer: {log.read_text()[-2000:]}")
        time.sleep(0.1)

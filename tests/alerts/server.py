# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Prometheus with our rules, whose minutes are ten seconds long; a server of text files is its node_exporter."""

from __future__ import annotations

import contextlib
import http.server
import json
import re
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.alerts.promtool import program
from tests.processes import end

RULES = Path(__file__).parents[2] / "examples/prometheus/drawbridge.rules.yml"
MINUTE_S = 10
"""A minute of the rules. The gate's timer needs more than half a minute, so that less would alarm without a fault."""
SECONDS = {"s": 1, "m": 60, "h": 3600}
LIMITS = {"> 300": f"> {300 * MINUTE_S // 60}", "> 600": f"> {600 * MINUTE_S // 60}"}
"""Ages in expressions; that of the drift check stays."""
READ_S = 5
Read = Callable[[], str]
"""The text that node_exporter would read on a host; empty if it has none."""
Firing = set[tuple[str, str]]
"""Names of alerts, each with its instance; "" for an alert without one."""


def quick(rules: Any) -> Any:
    """The rules with short minutes."""
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        if "for" in rule:
            rule["for"] = _short(rule["for"])
        rule["expr"] = re.sub(r"(?<=\[)\d+[smh](?=\])", lambda found: _short(found[0]), rule["expr"])
        for age, shorter in LIMITS.items():
            rule["expr"] = rule["expr"].replace(age, shorter)
    return rules


def _short(duration: str) -> str:
    return f"{int(duration[:-1]) * SECONDS[duration[-1]] * MINUTE_S // 60}s"


@contextlib.contextmanager
def exporter(reads: Mapping[str, Read]) -> Iterator[int]:
    """The port of a server with the path /NAME for each host; 404 for a host without text."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = reads[self.path.strip("/")]()
            self.send_response(200 if text else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Prometheus has what there is to know."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Prometheus:
    """One that runs."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/api/v1"

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self._url}/{path}", timeout=30) as answer:
            return json.load(answer)["data"]

    def up(self) -> bool:
        """Whether it has evaluated the rules."""
        groups = self._get("rules")["groups"]
        return bool(groups) and all(not group["lastEvaluation"].startswith("0001") for group in groups)

    def firing(self) -> Firing:
        """The alerts that fire now."""
        found = (alert for alert in self._get("alerts")["alerts"] if alert["state"] == "firing")
        return {(alert["labels"]["alertname"], alert["labels"].get("instance", "")) for alert in found}


@contextlib.contextmanager
def prometheus(folder: Path, reads: Mapping[str, Read]) -> Iterator[Prometheus]:
    """Prometheus, which reads each host every few seconds."""
    with socket.socket() as free, exporter(reads) as source:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        jobs = [
            {
                "job_name": name,
                "metrics_path": f"/{name}",
                "static_configs": [{"targets": [f"127.0.0.1:{source}"], "labels": {"instance": name}}],
            }
            for name in reads
        ]
        every = {"scrape_interval": f"{READ_S}s", "scrape_timeout": f"{READ_S}s", "evaluation_interval": f"{READ_S}s"}
        settings = {"global": every, "rule_files": ["rules.yml"], "scrape_configs": jobs}
        (folder / "prometheus.yml").write_text(yaml.safe_dump(settings))
        (folder / "rules.yml").write_text(yaml.safe_dump(quick(yaml.safe_load(RULES.read_text()))))
        argv = [program("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        with (folder / "log").open("w") as log:
            address = f"--web.listen-address=127.0.0.1:{port}"
            with subprocess.Popen([*argv, address], stdout=log, stderr=log) as process:
                try:
                    yield Prometheus(port)
                finally:
                    end(process.pid)


def fire_and_stay(found: Prometheus, wanted: Firing, patience_s: float, quiet_s: float) -> None:
    """Wait until exactly these alerts fire, and stay so. Raises AssertionError with those that fired."""
    deadline, since = time.monotonic() + patience_s, 0.0
    seen: Firing = set()
    while time.monotonic() < deadline:
        seen = found.firing()
        since = (since or time.monotonic()) if seen == wanted else 0.0
        if since and time.monotonic() - since >= quiet_s:
            return
        time.sleep(READ_S)
    raise AssertionError(f"missing: {sorted(wanted - seen)}, unwanted: {sorted(seen - wanted)}")

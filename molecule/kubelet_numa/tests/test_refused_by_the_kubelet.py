# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every configuration that the controller refuses, given to the real kubelet: it dies with these words, or runs on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.module_utils.kube.kubelet.test_check import CASES, good, merged

from .conftest import STATE, send, text_of

TRY = """
mkdir -p /run/try; rm -f {state}; cat > /run/try/50-drawbridge.conf
{command} > /run/try/log 2>&1 &
pid=$!
healthy=0 over=$(($(date +%s) + 180))
while kill -0 $pid 2>/dev/null; do
  curl -sf --max-time 5 -o /dev/null http://127.0.0.1:10248/healthz && healthy=$((healthy + 1)) || healthy=0
  if [ $healthy -ge 10 ]; then kill $pid; wait $pid; echo runs; exit 0; fi
  if [ "$(date +%s)" -ge $over ]; then kill -9 $pid; echo hangs; tail -n 3 /run/try/log; exit 0; fi
  sleep 0.25
done
echo dies; tail -n 3 /run/try/log
"""


@pytest.fixture(scope="module")
def command() -> Iterator[str]:
    """How the kubelet is started, with another directory of drop-ins; the unit is off meanwhile."""
    words = send("tr '\\0' '\\n' < /proc/$(systemctl show -P MainPID kubelet)/cmdline").split("\n")[:-1]
    words = ["--config-dir=/run/try" if word.startswith("--config-dir=") else word for word in words]
    send("systemctl stop kubelet")
    yield " ".join(map(shlex.quote, words))
    send(f"rm -f {STATE}; systemctl start kubelet")


def test_what_the_role_writes_runs(command: str) -> None:
    """Without this nothing below would mean anything."""
    assert send(TRY.format(command=command, state=STATE), text_of(good())).strip() == "runs"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_kubelet_dies_or_runs_on_as_the_case_says(command: str, case: dict[str, Any]) -> None:
    told = send(TRY.format(command=command, state=STATE), text_of(merged(good(), case["change"])))
    verdict, _, last_words = told.partition("\n")
    assert verdict == ("dies" if "dies" in case else "runs"), last_words
    assert case.get("dies", "") in last_words

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that answer a visit as they did before, after the same time, and compute nothing meanwhile.

All hosts of the lab share the controller's processors. Such nodes take none of them, as real nodes do.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from bench.counted import on_host

PYTHON, ANSWER, TOOK = "/run/node-python", "/run/node-answer", "/run/node-took"
WORDS = ("-e", f"ansible_python_interpreter={PYTHON}")
"""Ansible's, for a run with these nodes."""
RECORD = f"""#!/bin/sh
begin=$(date +%s%N)
/usr/bin/python3 "$@" > {ANSWER}
code=$?
echo $(($(date +%s%N) - begin)) > {TOOK}
cat {ANSWER}
exit $code
"""
ANSWER_AGAIN = f"""#!/bin/sh
cat > /dev/null
sleep %s
cat {ANSWER}
"""


def recorded(nodes: Sequence[str], visit: Callable[[int], object], rounds: int) -> float:
    """Visit all nodes and keep their answers. Returns the seconds that one node takes, if it is visited alone."""
    _install(nodes, RECORD)
    visit(len(nodes))
    took = []
    for _ in range(rounds):
        visit(1)
        took.append(int(on_host(nodes[0], f"cat {TOOK}")) / 1e9)
    seconds = statistics.median(took)
    _install(nodes, ANSWER_AGAIN % f"{seconds:.3f}")
    return seconds


def _install(nodes: Sequence[str], program: str) -> None:
    for node in nodes:
        on_host(node, f"cat > {PYTHON}; chmod 755 {PYTHON}", program.encode())

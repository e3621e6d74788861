# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Drift is seen, predicted exactly, and repaired: of the whole site, --check announces what the next run reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .conftest import Lab

DRIFTS = {
    "nic": ("gpu01", "mlnx_qos -i rail3 --pfc 0,0,0,0,0,1,0,0"),
    "slurm": ("ctl", "sacctmgr -i remove user where name=ben account=vision"),
}
"""An administrator's change on a host, by the playbook that repairs it."""


@contextmanager
def drained(lab: Lab, node: str) -> Iterator[None]:
    """A person keeps jobs off: its health check would, too, as soon as it sees the port, and lift that much later."""
    lab.tell(f"scontrol update nodename={node} state=drain reason=drift")
    try:
        yield
    finally:
        lab.tell(f"scontrol update nodename={node} state=undrain")


def test_check_predicts_exactly_what_the_runs_do(lab: Lab) -> None:
    steps, changed = {}, []
    with drained(lab, DRIFTS["nic"][0]):
        for host, command in DRIFTS.values():
            lab.ssh(host, command)
        predicted = lab.playbook("site", "--check", "--diff")
        assert predicted.code == 0, predicted.output
        for playbook, (host, _) in DRIFTS.items():
            repaired = lab.playbook(playbook, "--diff", "--limit", host)
            assert repaired.code == 0, repaired.output
            assert repaired.steps(), "the drift was not seen"
            steps |= repaired.steps()
            changed += repaired.changed()
    # of a site of eleven hosts and three switches nothing else was announced
    assert (predicted.steps(), sorted(predicted.changed())) == (steps, sorted(changed))

#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reserve nodes in Slurm for maintenance."""

DOCUMENTATION = r"""
module: slurm_reservation
short_description: Reserve nodes in Slurm for maintenance
version_added: 0.1.0
description:
  - Runs on the controller. It keeps one reservation with the flags MAINT and IGNORE_JOBS, which begins now. Slurm's
    accounting counts its time as planned. Running jobs stay.
  - A reservation of other nodes is deleted and created again. Slurm deletes it at its end in any case.
author: Drawbridge contributors (@drawbridge)
options:
  name:
    description: Name of the reservation.
    type: str
    required: true
  nodes:
    description: NodeNames; without any the reservation is deleted.
    type: list
    elements: str
    required: true
  minutes:
    description: Length of a reservation that is created.
    type: int
    default: 60
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The reservation in Slurm's words.
    support: full
"""

EXAMPLES = r"""
- name: Reserve two nodes for two hours
  drawbridge.drawbridge.slurm_reservation:
    name: drawbridge-2026-11-kernel
    nodes: [gpu05, gpu06]
    minutes: 120
- name: Delete the reservation
  drawbridge.drawbridge.slurm_reservation:
    name: drawbridge-2026-11-kernel
    nodes: []
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.slurm.reservation.layer import SLURM_RESERVATION


def main() -> None:
    """Run this layer."""
    main_of(SLURM_RESERVATION)


if __name__ == "__main__":
    main()

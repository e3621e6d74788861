# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The option with which a role passes what follows from the intent."""

from __future__ import annotations


class ModuleDocFragment:
    """For modules whose layer is viewed."""

    DOCUMENTATION = """
options:
  view:
    description:
      - Other options of this module as one mapping, such as P(drawbridge.drawbridge.view#lookup) returns. A role passes
        what follows from the intent with it, so that Ansible evaluates one template for all of them.
      - Options in the view win over the same options beside it. Required options may be in either place.
    type: dict
    default: {}
"""

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The one error that the lab's command prints without a traceback."""


class LabError(Exception):
    """The problem, and what to do about it, in one sentence."""

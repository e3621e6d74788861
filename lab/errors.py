# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The one error that the lab's command prints without a traceback."""


class LabError(Exception):
    """What is wrong, and what to do about it, in one sentence."""

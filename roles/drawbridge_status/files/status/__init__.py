# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program `drawbridge`: the state of nodes in sentences, and drift. It only reads."""

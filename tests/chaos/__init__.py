# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are cut off anywhere, and what the next runs make of what they left."""

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab: a machine room on one machine, for people and tests without hardware."""

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What nobody can have on a laptop: vendor command lines with state, a journal, faults and a clock.

Everything here runs on the lab's hosts with their own Python (3.9 or newer) and the standard library alone.
"""

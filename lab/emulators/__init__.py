# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated vendor tools for devices that a laptop lacks: command lines with state, a journal, faults and a clock.

Everything here runs on the lab's hosts with their own Python (3.9 or newer) and the standard library alone.
"""

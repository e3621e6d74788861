# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Switches behind real SSH. A package here is one system, and runs as a program.

server      SSH, the terminal's echo, faults of a terminal, the timer
program     the command line that all systems share
data_model  what systems share whose configuration is nested objects
eos, nvue, sonic   what a line does: grammar, configuration, what show commands print
"""

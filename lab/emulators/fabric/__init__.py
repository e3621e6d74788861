# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Switches behind real SSH. A package here that runs as a program is one system.

server      SSH, the terminal's echo, faults of a terminal, the timer
program     the command line that all systems share
switch      the device on disk, its faults and its journal
cli         what systems share whose configuration is lines in modes
data_model  what systems share whose configuration is nested objects
eos, nvue, sonic, os10   what a line does: grammar, configuration, what show commands print
"""

# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Switches behind real SSH. A package here is one system.

`server`      SSH, the terminal's echo, faults of a terminal, the timer.
`__main__`    the program: one switch of one system.
`switch`      the device on disk, its faults and its journal.
`data_model`  what systems share whose configuration is nested objects; counters of switches.
`cli`         what systems share whose configuration is lines in modes.
`eos`, `nvue`, `sonic`, `nxos`, `junos`, `os10`   what a line does. Each has `cli`, one logged-in user with commands,
              prompts and output, and `switch`, the device on disk and its faults. Its docstring names the others.
"""

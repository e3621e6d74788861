# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper QFX with Junos: statements, a candidate with commits and their timer, and what show commands print.

`schema`      the statements that a lossless class needs, and others beside them.
`statements`  a configuration as `set` lines; groups, inactive parts.
`checks`      what a commit refuses.
`shows`       answers to show commands, and what they count.
`commits`     candidate, exclusive lock, commit confirmed, roll-back.
"""

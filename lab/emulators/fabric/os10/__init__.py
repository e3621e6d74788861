# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Dell PowerSwitch with SmartFabric OS10 behind real SSH: enough of its CLI to configure and prove a lossless class.

`tree`         the lines of each mode, as data, and what OS10 refuses among them   (pure).
`transaction`  the candidate that all users share, the lock, commit and discard    (pure: works on the state dict).
"""

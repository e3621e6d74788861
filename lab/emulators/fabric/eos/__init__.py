# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An Arista EOS switch behind real SSH: enough of its CLI to configure and prove a lossless class.

`tree`      the lines of each mode, as data, per platform, and how EOS prints them  (pure).
`ports`     what a port does, and what it counts                                  (pure).
`sessions`  configuration sessions, commit timer, confirm                         (pure: works on the state dict).
"""

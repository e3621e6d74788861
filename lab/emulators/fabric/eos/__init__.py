# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An Arista EOS switch behind real SSH: enough of its CLI to configure and prove a lossless class.

grammar     how EOS reads a typed line: abbreviations, ambiguity, arguments   (pure)
lines       the lines of each mode, as data, per platform                     (pure)
tree        a configuration: apply a line, print it as running-config does    (pure)
sessions    configuration sessions, commit timer, confirm, expiry             (pure: works on the state dict)
shows       what the show commands print, as text and as JSON                 (pure)
cli         one logged-in user: modes, prompts, dispatch
switch      the device on disk, its faults and its journal
"""

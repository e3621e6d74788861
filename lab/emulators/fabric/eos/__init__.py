# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An Arista EOS switch behind real SSH: enough of its CLI to configure and prove a lossless class.

lines       the lines of each mode, as data, per platform                     (pure)
tree        how EOS prints them                                               (pure)
sessions    configuration sessions, commit timer, confirm                     (pure: works on the state dict)
shows, ports, qos_shows, counters   what show commands print   (pure)
cli         one logged-in user: commands and prompts
switch      the device on disk and its faults
"""

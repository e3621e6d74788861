# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What switches share whose configuration is lines in modes. A system adds its words, its lines and its quirks.

`grammar`    how a typed line is read: abbreviations, ambiguity, arguments          (pure).
`tree`       a configuration as data                                                (pure).
`language`   how its lines are typed and printed                                    (pure).
`candidate`  another configuration in force, for good or under a timer; link flaps  (pure: works on the state dict).
`shows`      what show commands and pipes have in common                            (pure).
`terminal`   one logged-in user: modes, prompts, paging, dispatch; the switch on disk and its faults.
"""

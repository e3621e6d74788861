# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A SONiC switch behind real SSH: a shell with the programs that a lossless class needs.

From sonic-utilities (generic_config_updater, pfcwd, the command reference), SONiC's YANG models, and a run of both
against a real redis. What orchagent makes of a configuration is modelled after sonic-swss' own tests.

yang        what the YANG models take, as data, and what they refuse       (pure)
gcu         `config apply-patch`: validators, YANG, flaps of ports          (pure: works on the state dict)
configdb    ConfigDB of a new switch, redis' view of it, saved files        (pure)
words       forms of commands                                           (pure)
units       transient timers and services of systemd                        (pure)
programs    config, sonic-cfggen, sonic-db-cli, sonic-db-dump, systemctl
shows       what `show` prints for people
counters    what it counts, and whom LLDP sees
tables      tables as people read them                                       (pure)
cli         one logged-in user: words, `;`, `&&`, redirection, sudo
switch      the device on disk
"""

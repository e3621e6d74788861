# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import shlex

from lab.hosts import status


def test_exports_are_what_a_shell_can_take(paths):
    lines = dict(line.removeprefix("export ").split("=", 1) for line in status.exports(paths))
    assert lines["LAB_ID"] == "7"
    assert shlex.split(lines["ANSIBLE_SSH_COMMON_ARGS"]) == [f"-F {paths.ssh_config}"]
    assert lines["KUBECONFIG"] == str(paths.kubeconfig)

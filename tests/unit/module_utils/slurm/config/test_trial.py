# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import trial

# slurm 24.11.5, captured: a scratch directory makes these
SERVES = """\
slurmctld: error: Configured MailProg is invalid
slurmctld: error: Job accounting information gathered, but not stored
slurmctld: slurmctld version 24.11.5 started on cluster lab(0)
slurmctld: creating clustername file: ClusterName=lab ClusterID=618
slurmctld: error: Could not open node state file /run/slurm-trial-CalP/state/node_state: No such file or directory
slurmctld: error: NOTE: Trying backup state save file. Information may be lost!
slurmctld: error: "Include" failed in file /run/slurm-trial-CalP/plugstack.conf line 1
slurmctld: Running as primary controller
"""
CONF = """\
ClusterName=lab
SlurmctldHost=ctl
SlurmctldDebug=quiet
PrologSlurmctld=/x
CommunicationParameters=NoCtldInAddrAny
accountingstoragetype=accounting_storage/slurmdbd
SlurmctldTimeout=30
PartitionName=hpc Nodes=gpu01 TRESBillingWeights="CPU=1.0,GRES/gpu=2" Default=YES
"""


def test_a_trial_shares_nothing_with_the_real_slurmctld() -> None:
    assert trial.trial_conf(CONF, "/run/s", "ctl", "192.0.2.1").splitlines() == [
        "ClusterName=lab",
        "SlurmctldTimeout=30",
        "PartitionName=hpc Nodes=gpu01 Default=YES",
        "SlurmctldHost=ctl(192.0.2.1)",
        "SlurmctldDebug=info",
        "SlurmctldPidFile=/run/s/pid",
        "StateSaveLocation=/run/s/state",
    ]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            'slurmctld: error: Bad value "9:9:9:9" for MaxTime\n'
            "slurmctld: fatal: Unable to process configuration file\n",
            'Bad value "9:9:9:9" for MaxTime; Unable to process configuration file',
        ),
        (
            "slurmctld: fatal: Duplicated NodeName gpu01 in the config file\n",
            "Duplicated NodeName gpu01 in the config file",
        ),
    ],
)
def test_a_fatal_error_comes_with_its_cause(log: str, said: str) -> None:
    # slurm 24.11.5, captured
    assert trial.decided(log)
    assert trial.decided(SERVES)
    assert trial.complaints(log) == said


@pytest.mark.parametrize(
    "swallowed",
    [
        'error: _find_node_record: lookup failure for node "gpu98"',
        "warning: Multiple leaf switches contain nodes: gpu01",
        "error: ReturnToService 1 specified more than once, latest value used",
        "error: Invalid HealthCheckNodeState value foo ignored",
    ],
)
def test_errors_that_slurm_ignores_are_refused_too(swallowed: str) -> None:
    # slurm 24.11.5, captured
    assert trial.complaints(f"slurmctld: {swallowed}\n{SERVES}") == swallowed.split(": ", 1)[1]


def test_no_verdict_is_a_refusal() -> None:
    log = "slurmctld: error: get_addr_info: getaddrinfo() failed\n"
    assert not trial.decided(log)
    assert trial.complaints(log) == f"no verdict, and last: {log.strip()}"
    assert trial.complaints("") == "no verdict, and last: nothing"

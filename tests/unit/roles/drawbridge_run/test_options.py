# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A call's input: its own options, and Slurm's environment."""

from __future__ import annotations

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.allocation import Allocation
from roles.drawbridge_run.files.run.options import parse, parser
from tests.unit.roles.drawbridge_run.job import ENV, site


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "name an image and a command: drawbridge-run --image IMAGE -- COMMAND"),
        ("-- true", "no image: add one"),
        ("help", "help is no option of drawbridge-run; do you mean --help"),
        ("--image img", "no command: end the line with --"),
        ("--image img python train.py", "write -- in front of the command: -- python train.py"),
        ("--imag img -- true", "--imag is no option of drawbridge-run; do you mean --image"),
        ("--image img --dryrun -- true", "do you mean --dry-run"),
        ("--image img --unheard-of -- true", "drawbridge-run --help lists the options"),
        ("--image img --volume /a:/b -- true", "--volume is no option of drawbridge-run; do you mean --mount"),
        ("--nodes=2 --image img -- true", "--nodes is Slurm's: .* give --nodes to sbatch or salloc"),
        ("--gpus 4 --image img -- true", "--gpus is Slurm's: .* give --gres to sbatch or salloc"),
        ("--image img --env A B -- true", "B stands alone before --"),
        ("--image docker://img:1 -- true", "no docker:// in front: write img:1"),
        ("--image nvcr.io#nvidia/pytorch:24.01-py3 -- true", "a / behind .*: write nvcr.io/nvidia/pytorch:24.01"),
        ("--image docker://$oauthtoken@nvcr.io#nvidia/pytorch:24.01-py3 -- true", "write nvcr.io/nvidia/pytorch:24.01"),
        ("--image docker://Img -- true", "all but the tag in small letters"),
        ("--image a#b#c -- true", "written REGISTRY/NAME:TAG"),
        ("--image ./it.sif -- true", "no images from files"),
        ("--image library://me/it/img:1 -- true", "no images from files"),
        ("--image Img -- true", "all but the tag in small letters"),
        ("--image reg.Example:5000/a/b__c-d.e:Tag_1 -- true", ""),
        ("--image img --workdir here -- true", r"write a full path, such as \$PWD/here"),
        ("--image img --patience 0 -- true", "at least 1 second"),
        ("--image img --rank 1 -- true", "it needs --shell"),
        ("--image img --name Big -- true", "small letters"),
        ("--image img --name ends- -- true", "small letters"),
        ("--image img --name a-name-of-21-letters -- true", ""),
        ("--image img --name a-name-of-22-letters-x -- true", "up to 20"),
        ("--image img --grace soon -- true", "argument --grace: soon is no whole number; drawbridge-run --help"),
        ("--image -- true", "argument --image: expected one argument"),
        ("--image img --backend pods -- true", "invalid choice: 'pods'"),
        ("--image img --grace 0 -- true", "write 1 to 120"),
        ("--image img --grace 121 -- true", "write 1 to 120"),
        ("--image img --env 1A=b -- true", "begins with no digit"),
        ("--image img --secret-env A -- true", "NAME=SECRET/KEY"),
        ("--image img --secret-env A=b -- true", "NAME=SECRET/KEY"),
        ("--image img --secret-env A=b/c -- true", ""),
    ],
)
def test_a_wrong_line_is_refused_with_what_to_write(line: str, says: str) -> None:
    if not says:
        assert parse(line.split()).command == ("true",)
        return
    with pytest.raises(Refused, match=says):
        parse(line.split())


@pytest.mark.parametrize(
    ("words", "write"),
    [
        (["python train.py"], "python train.py, without quotes"),
        (["./run.sh --epochs 3"], "./run.sh --epochs 3, without quotes"),
        (["cd /data && python train.py"], "bash -c 'cd /data && python train.py'"),
        (["cd /data"], "bash -c 'cd /data'"),
        (["python train.py > out.txt 2>&1"], "bash -c 'python train.py > out.txt 2>&1'"),
        (["ls|wc"], "bash -c 'ls|wc'"),
        (["echo $HOSTNAME"], "bash -c 'echo $HOSTNAME'"),
        (["python -c 'print(1)'"], """bash -c 'python -c '"'"'print(1)'"'"''"""),
        (["ls *.py"], "bash -c 'ls *.py'"),
        (["A=8 torchrun train.py"], "bash -c 'A=8 torchrun train.py'"),
        (["A=8", "torchrun", "my train.py"], "--env A=8 -- torchrun 'my train.py'"),
        (["A=8"], "--env A=8 -- COMMAND"),
        (["source", "env.sh"], "bash -c 'source env.sh'"),
        (["two\nlines of it"], "bash -c LINE"),
        (["bash", "-c", "cd /data && python train.py"], ""),
        (["env", "/my place/run", "A=8", "$B"], ""),
    ],
)
def test_what_only_a_shell_understands_is_no_program(words: list[str], write: str) -> None:
    try:
        parse(["--image", "img", "--", *words])
        said = ""
    except Refused as refused:
        said = str(refused).partition(": write ")[2].removeprefix("-- ")
    assert said == write


def test_what_stands_behind_the_dashes_is_the_commands() -> None:
    found = parse(["--image", "img", "--", "sh", "-c", "true -- --image", "--", "--keep"])
    assert found.command == ("sh", "-c", "true -- --image", "--", "--keep")
    assert not found.keep


def test_help_names_every_exit_code() -> None:
    text = parser().format_help()
    assert all(f"\n  {code}  " in text for code in ("124", "125", "126", "127", "130", "143"))


def test_help_fits_a_usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, parser().format_help().splitlines())) <= 80


@pytest.mark.parametrize(
    ("slurm", "says"),
    [
        ({"SLURM_JOB_ID": ""}, "this is no Slurm job: put the line into a batch script .* --partition=ai-train"),
        ({"SLURM_JOB_PARTITION": "hpc"}, "partition hpc get no nodes in Kubernetes; submit to one of these: ai-train"),
        ({"SLURM_HET_SIZE": "2"}, "heterogeneous"),
        ({"SLURM_STEP_NUM_TASKS": "16"}, "leave srun away"),
        ({"SLURM_JOB_CPUS_PER_NODE": "128,64"}, "different builds .* --constraint"),
        ({"SLURM_NTASKS": "7"}, "7 tasks can't be shared evenly by 2 nodes"),
    ],
)
def test_what_can_have_no_pods_is_refused(slurm: dict[str, str], says: str) -> None:
    with pytest.raises(Refused, match=says):
        Allocation.of({**ENV, **slurm}, site())


def test_names_carry_job_and_run() -> None:
    assert Allocation.of(ENV, site()).prefix == "slurm-4711-r0-"
    assert Allocation.of({**ENV, "SLURM_RESTART_COUNT": "3"}, site()).prefix == "slurm-4711-r3-"


@pytest.mark.parametrize(("asked", "each"), [({}, 0), ({"SLURM_NTASKS": "2"}, 0), ({"SLURM_NTASKS": "16"}, 8)])
def test_tasks_per_node_follow_the_request(asked: dict[str, str], each: int) -> None:
    """One task a node is what launchers such as torchrun are started with: it says nothing of processes."""
    assert Allocation.of({**ENV, **asked}, site()).tasks_per_node == each


def test_pods_get_variables_of_their_job_and_nothing_else() -> None:
    found = Allocation.of({**ENV, "SLURM_ARRAY_TASK_ID": "5", "SLURM_NTASKS": "2", "SECRET": "x"}, site())
    job = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "train", "SLURM_RESTART_COUNT": "0"}
    assert found.variables == {**job, "SLURM_ARRAY_TASK_ID": "5"}

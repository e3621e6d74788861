# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlnx_qos against captured output: its reports, its refusals and its half-done changes.

The tests of the module mlnx_qos and of role fabric_nic run it with every fault.
"""

import signal

import pytest

NO_DCB = (
    "Priority trust state is not supported on your system\n"
    "Buffers commands are not supported on your system\n"
    "Rate limit is not supported on your system!\n"
    "ETS features are not supported on your system\n"
)
USAGE = "Usage: mlnx_qos -i <interface> [options]\n\n"
PFC3 = "0,0,0,1,0,0,0,0"
TSA = "ets,strict,strict,ets,strict,strict,strict,strict"
SHARES = ("-p", "0,0,0,3,0,0,6,0", "-s", TSA, "-t", "20,0,0,80,0,0,0,0")


@pytest.fixture
def qos(host):
    def run(*arguments, **options):
        return host.run("mlnx_qos", "-i", "rail0", *arguments, **options)

    return run


@pytest.fixture
def port(host):
    def read(name="rail0"):
        with host.device("mlnx_qos").state() as state:
            return state["ports"][name]

    return read


def test_a_new_port_reports_what_a_real_one_does_also_after_a_boot(host, qos, port, transcript):
    result = qos()
    assert (result.returncode, result.stderr, result.stdout) == (0, "", transcript("nic/mlnx_qos/factory.txt"))
    qos("--pfc", PFC3, "--trust", "dscp")
    host.boot("second")
    assert (qos().stdout, port()["link_flaps"]) == (transcript("nic/mlnx_qos/factory.txt"), 1)


def test_a_full_profile_reports_what_a_real_port_does(host, qos, transcript):
    qos("--pfc", PFC3, "--tru", "dscp")  # a unique prefix of an option is enough
    qos("--dscp2prio", "set,26,4")
    assert qos("--cable_len", "50", *SHARES).returncode == 0
    with host.device("mlnx_qos").state() as state:
        state["ports"]["rail0"]["ratelimit"][3] = 100
    assert qos().stdout == transcript("nic/mlnx_qos/profile.txt")


@pytest.mark.parametrize("metres", ["0", "1000"])
def test_a_cable_length_out_of_the_drivers_range_is_ignored(qos, port, metres):
    assert (qos("--cable_len", metres).returncode, port()["cable_len"]) == (0, 7)


@pytest.mark.parametrize(
    ("version", "buffers", "code", "text"),
    [
        ("5.9.1", False, 0, "Buffers commands are not supported on your system"),
        ("25.7", False, 1, "no attribute 'errno'"),
        (
            *("5.9.1", True, 0),
            "default priority:\nReceive buffer size (bytes): 262016,0,0,0,0,0,0,0,total_size=262016\n",
        ),
    ],
)
def test_releases_differ_in_default_priority_total_size_and_drivers_without_buffers(
    host, qos, version, buffers, code, text
):
    qos()
    with host.device("mlnx_qos").state() as state:
        state["version"], state["ports"]["rail0"]["buffers"] = version, buffers
    done = qos()
    assert done.returncode == code and text in done.stdout + done.stderr


def test_only_a_mask_that_differs_bounces_the_link(qos, port):
    for arguments, flaps in (((), 0), (("--pfc", PFC3), 1), (("--pfc", PFC3), 1), (("--trust", "dscp"), 1)):
        qos(*arguments)
        assert port()["link_flaps"] == flaps


@pytest.mark.parametrize(
    ("interface", "cause"), [("nosuch0", "No such device (19)"), ("eth0", "Operation not supported (95)")]
)
def test_a_missing_port_looks_like_one_without_dcb_and_pfc_there_ends_in_a_traceback(host, interface, cause):
    result = host.run("mlnx_qos", "-i", interface)
    assert (result.returncode, result.stdout, result.stderr) == (1, NO_DCB, "")
    result = host.run("mlnx_qos", "-i", interface, "--pfc", PFC3)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert f"OSError: Netlink error: {cause}\n" in result.stderr
    assert result.stderr.endswith('TypeError: can only concatenate str (not "OSError") to str\n')


REFUSALS = [
    (("--pfc", "0,0,0,1"), "pfc list must have 8 items\n"),
    (("--pfc", "0,0,0,1,0,0,0,0,0"), "Too many items for PFC\n"),
    (("--pfc", "0,0,0,2,0,0,0,0"), "Bad value for PFC: 2 is not in the range 0..1\n" + USAGE),
    (("--pfc", "0,0,0,x,0,0,0,0"), "Bad value for PFC: invalid literal for int() with base 10: 'x'\n" + USAGE),
    (("--trust", "both"), "Invalid trust state command. Refer to the help.\n"),
    (("--trust", "dscp", "--dscp2prio", "set,26,3"), "trust and dscp2prio commands cannot be used at the same time.\n"),
    (("--dscp2prio", "set,64,3"), ""),
    (("--dscp2prio", "set,26,8"), ""),
    (("--dscp2prio", "del,26,3"), "Netlink error: No such file or directory (2)\n"),
    (("--cable_len", "65536"), "Bad value for cable_len: 65536 is not in the range 0..65535\n"),
    (("-s", TSA, "-t", "20,0,0,70,0,0,0,0"), "Netlink error: Bad value. see dmesg.\n"),
    (("-s", TSA, "-t", "20,0,1,79,0,0,0,0"), "ETS BW for a strict/vendor TC must be 0\n" + USAGE),
    (("-d", "bogus"), "Invalid dcbx mode command. Refer to the help.\n"),
    (("stray",), "Bad arguments\n" + USAGE),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSALS, ids=[" ".join(case[0]) for case in REFUSALS])
def test_errors_go_to_stdout_with_exit_code_1(qos, arguments, text):
    result = qos(*arguments)
    assert (result.returncode, result.stdout, result.stderr) == (1, text, "")


@pytest.mark.parametrize(
    ("arguments", "code", "end"),
    [
        (("--dscp2prio", "26:3"), 1, "AttributeError: 'ValueError' object has no attribute 'errno'\n"),
        (("--show",), 2, f"{USAGE}mlnx_qos: error: no such option: --show\n"),
        (("--json",), 2, f"{USAGE}mlnx_qos: error: no such option: --json\n"),
    ],
)
def test_other_errors_are_on_stderr(qos, arguments, code, end):
    result = qos(*arguments)
    assert (result.returncode, result.stdout, result.stderr.endswith(end)) == (code, "", True)


def test_the_interface_is_required_and_the_version_is_never_true(host):
    assert host.run("mlnx_qos").stdout == "Interface name is required\n" + USAGE
    assert host.run("mlnx_qos", "--version").stdout == "mlnx_qos 1.2\n"
    unknown = host.run("mlxlink")
    assert (unknown.returncode, "mlxlink is not an emulated command" in unknown.stderr) == (127, True)


def test_a_call_is_no_transaction(qos, port):
    assert qos("--pfc", PFC3, "--trust", "bogus").returncode == 1
    assert port()["pfc"] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert qos("--pfc", "0,0,0,0,1,0,0,0", "--dscp2prio", "26:3").returncode == 1
    assert port()["pfc"] == [0, 0, 0, 0, 1, 0, 0, 0]


def test_trust_is_what_the_dscp_table_implies(qos, port):
    assert "Priority trust state: dscp" in qos("--dscp2prio", "set,26,3").stdout
    assert port()["apps"] == [[26, 3]]
    assert "Priority trust state: pcp" in qos("--dscp2prio", "del,26,3").stdout
    assert port()["dscp2prio"][26] == 0


def test_trusting_dscp_again_keeps_the_map_and_pcp_forgets_it(qos, port):
    qos("--trust", "dscp")
    qos("--dscp2prio", "set,26,4", "--dscp2prio", "set,48,6")
    qos("--trust", "dscp")
    assert ([26, 4] in port()["apps"], len(port()["apps"])) == (True, 64)
    for arguments in (("--trust", "pcp"), ("--dscp2prio", "flush")):
        qos(*arguments)
        assert port()["apps"] == []
        qos("--trust", "dscp")


def test_firmware_can_own_dcbx(qos):
    for mode, said in (("fw", "Firmware"), ("get", "Firmware"), ("os", "OS")):
        assert qos("-d", mode).stdout.startswith(f"DCBX mode: {said} controlled\n")


def test_any_user_may_look_but_only_root_may_change(qos, any_user, transcript):
    qos()
    assert qos(**any_user).stdout == transcript("nic/mlnx_qos/factory.txt")
    for arguments in (("--pfc", PFC3), ("--trust", "dscp"), ("--dscp2prio", "set,26,3")):
        result = qos(*arguments, **any_user)
        said = (result.returncode, result.stdout, result.stderr)
        assert said == (1, "Netlink error: Operation not permitted (1)\n", "")
    crash = qos("-d", "os", **any_user)
    assert (crash.returncode, crash.stderr.splitlines()[-1][-3:]) == (1, "(1)")


def test_a_running_lldpad_is_warned_about(host, qos):
    (host.directory / "proc/4711").mkdir()
    (host.directory / "proc/4711/comm").write_text("lldpad\n")
    warning = "****** WARNING: lldpad service is running and may overwrite your settings ******"
    assert qos().stdout.startswith(f"{warning}\n\nDCBX mode: OS controlled\n")


def test_every_call_is_journalled_and_told_apart(host, qos):
    expected = [([], 0, False), (["--trust", "dscp"], 0, True), (["-d", "get"], 0, False), (["--show"], 2, False)]
    for arguments, _, _ in expected:
        qos(*arguments)
    calls = host.device("mlnx_qos").calls()
    assert [(call["argv"][2:], call["rc"], call["writes"]) for call in calls] == expected


@pytest.mark.parametrize(
    ("arguments", "lossless", "mapped"),
    [(("--pfc", PFC3, "--dscp2prio", "set,26,3"), 1, 0), (("--trust", "dscp"), 0, 32)],
    ids=["between options", "inside one option"],
)
def test_a_tool_that_dies_leaves_half_of_the_change(host, qos, port, arguments, lossless, mapped):
    host.device("mlnx_qos").add_fault("mlnx_qos", "die")
    result = qos(*arguments)
    assert (result.returncode, result.stdout) == (-signal.SIGKILL, "")
    assert (port()["pfc"][3], len(port()["apps"])) == (lossless, mapped)

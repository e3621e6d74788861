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


def test_a_new_port_reports_what_a_real_one_does(qos, transcript):
    result = qos()
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == transcript("nic/mlnx_qos/factory.txt")


def test_a_full_profile_reports_what_a_real_port_does(host, qos, transcript):
    qos("--pfc", PFC3, "--trust", "dscp")
    qos("--dscp2prio", "set,26,4")
    assert qos("--cable_len", "50", *SHARES).returncode == 0
    with host.device("mlnx_qos").state() as state:
        state["ports"]["rail0"]["ratelimit"][3] = 100
    assert qos().stdout == transcript("nic/mlnx_qos/profile.txt")


@pytest.mark.parametrize("metres", ["0", "1000"])
def test_a_cable_length_out_of_the_drivers_range_is_ignored(qos, port, metres):
    assert qos("--cable_len", metres).returncode == 0
    assert port()["cable_len"] == 7


@pytest.mark.parametrize(
    ("version", "code", "text"),
    [("5.9.1", 0, "Buffers commands are not supported on your system"), ("25.7", 1, "no attribute 'errno'")],
)
def test_a_driver_without_buffers_is_a_notice_or_a_crash(host, qos, version, code, text):
    qos()
    with host.device("mlnx_qos").state() as state:
        state["version"], state["ports"]["rail0"]["buffers"] = version, False
    done = qos()
    assert done.returncode == code and text in done.stdout + done.stderr


def test_version_5_has_default_priority_and_total_size(host, qos):
    with host.device("mlnx_qos").state({"ports": {}}) as state:
        state["version"] = "5.9.1"
    lines = qos().stdout.splitlines()
    assert lines[2:4] == ["default priority:", "Receive buffer size (bytes): 262016,0,0,0,0,0,0,0,total_size=262016"]


def test_a_mask_that_differs_bounces_the_link_and_the_same_mask_does_not(qos, port):
    qos()
    assert port()["link_flaps"] == 0
    qos("--pfc", PFC3)
    qos("--pfc", PFC3)
    assert port()["link_flaps"] == 1
    qos("--trust", "dscp")
    assert port()["link_flaps"] == 1


@pytest.mark.parametrize("interface", ["nosuch0", "eth0"])
def test_a_missing_port_looks_like_one_without_dcb(host, interface):
    result = host.run("mlnx_qos", "-i", interface)
    assert (result.returncode, result.stdout, result.stderr) == (1, NO_DCB, "")


@pytest.mark.parametrize(
    ("interface", "cause"), [("nosuch0", "No such device (19)"), ("eth0", "Operation not supported (95)")]
)
def test_pfc_on_a_port_without_dcb_ends_in_a_traceback(host, interface, cause):
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
    (
        ("--trust", "dscp", "--dscp2prio", "set,26,3"),
        "trust and dscp2prio commands cannot be used at the same time.\n",
    ),
    (("--dscp2prio", "set,64,3"), ""),
    (("--dscp2prio", "set,26,8"), ""),
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


def test_a_mapping_in_the_wrong_form_ends_in_a_traceback(qos):
    result = qos("--dscp2prio", "26:3")
    assert result.returncode == 1
    assert result.stderr.endswith("AttributeError: 'ValueError' object has no attribute 'errno'\n")


@pytest.mark.parametrize("option", ["--show", "--json"])
def test_an_unknown_option_exits_2_on_stderr(qos, option):
    result = qos(option)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"{USAGE}mlnx_qos: error: no such option: {option}\n"


def test_the_interface_is_required_and_the_version_is_never_true(host):
    assert host.run("mlnx_qos").stdout == "Interface name is required\n" + USAGE
    assert host.run("mlnx_qos", "--version").stdout == "mlnx_qos 1.2\n"


def test_a_unique_prefix_of_an_option_is_enough(qos, port):
    assert qos("--tru", "dscp").returncode == 0
    assert len(port()["apps"]) == 64


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
    assert qos("--dscp2prio", "del,26,3").stdout == "Netlink error: No such file or directory (2)\n"


def test_trusting_dscp_again_keeps_the_map_and_pcp_forgets_it(qos, port):
    qos("--trust", "dscp")
    qos("--dscp2prio", "set,26,4", "--dscp2prio", "set,48,6")
    qos("--trust", "dscp")
    assert [26, 4] in port()["apps"]
    qos("--trust", "pcp")
    assert port()["apps"] == []
    qos("--trust", "dscp")
    qos("--dscp2prio", "flush")
    assert port()["apps"] == []


def test_firmware_can_own_dcbx(qos):
    assert qos("-d", "fw").stdout.startswith("DCBX mode: Firmware controlled\n")
    assert qos("-d", "get").stdout.startswith("DCBX mode: Firmware controlled\n")
    assert qos("-d", "os").stdout.startswith("DCBX mode: OS controlled\n")


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
    first, second, third = qos().stdout.splitlines()[:3]
    assert first == "****** WARNING: lldpad service is running and may overwrite your settings ******"
    assert (second, third) == ("", "DCBX mode: OS controlled")


def test_nothing_survives_a_boot_but_the_count_of_flaps(host, qos, port, transcript):
    qos("--pfc", PFC3, "--trust", "dscp")
    host.boot("second")
    assert qos().stdout == transcript("nic/mlnx_qos/factory.txt")
    assert port()["link_flaps"] == 1


def test_every_call_is_journalled_and_told_apart(host, qos):
    qos()
    qos("--trust", "dscp")
    qos("-d", "get")
    qos("--show")
    calls = host.device("mlnx_qos").calls()
    assert [(call["argv"][2:], call["rc"], call["writes"]) for call in calls] == [
        ([], 0, False),
        (["--trust", "dscp"], 0, True),
        (["-d", "get"], 0, False),
        (["--show"], 2, False),
    ]


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


def test_the_launcher_refuses_names_it_does_not_know(host):
    result = host.run("mlxlink")
    assert result.returncode == 127
    assert "mlxlink is not an emulated command" in result.stderr

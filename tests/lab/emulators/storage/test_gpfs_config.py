# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Attributes, node classes and kernel modules of the emulated cluster."""

import pytest

from tests.lab.emulators.storage.gpfs_site import Site, records, undated


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def effective(site, host="gpu01"):
    rows = records(site[host].run("mmdiag", "--config", "-Y").stdout, "config")
    return {row["name"]: row["value"] for row in rows}


def done(result):
    assert result.returncode == 0, result.stderr
    return result.stdout


class TestAttributes:
    def test_forms_are_those_of_the_transcripts(self, site, transcript):
        site.change(lambda state: state.update(name="oglab.cn", config=[]))
        done(site.admin("mmchconfig", "maxMBpS=5000", "-N", "clientLicense"))
        done(site.admin("mmchconfig", "adminMode=central"))
        wanted = transcript("storage/gpfs/mmlsconfig_y.txt").replace("cesNodes", "clientLicense")
        assert site.admin("mmlsconfig", "-Y").stdout == wanted

    def test_what_a_daemon_uses_has_the_form_of_the_transcript(self, site, transcript):
        site.change(lambda state: state["config"].append({"name": "pagepool", "value": "4G", "scope": []}))
        site.join("gpu01")
        header, _, *rows = transcript("storage/gpfs/mmdiag_config_y.txt").splitlines()
        printed = site["gpu01"].run("mmdiag", "--config", "-Y").stdout.splitlines()
        assert printed[0] == header
        assert set(rows) <= set(printed)

    def test_only_some_attributes_take_effect_at_once(self, site):
        site.join("gpu01")
        done(site.admin("mmchconfig", "maxMBpS=20000", "-i", "-N", "gpu01"))
        assert effective(site)["maxMBpS"] == "20000"
        assert "(undefined)" in site.admin("mmlsconfig", "noSuchThing").stdout

    def test_a_pagepool_in_use_by_rdma_is_not_resized(self, site):
        site.change(lambda state: state["config"].append({"name": "verbsRdma", "value": "enable", "scope": []}))
        site.join("gpu01")
        refused = site.admin("mmchconfig", "pagepool=2G", "-i", "-N", "gpu01")
        assert (refused.returncode, "6027-3960" in refused.stderr) == (1, True)

    def test_the_most_specific_scope_wins_and_default_removes(self, site):
        site.join("gpu01", "gpu02")
        done(site.admin("mmcrnodeclass", "fast", "-N", "gpu01"))
        for arguments in (["pagepool=2G"], ["pagepool=4G", "-N", "fast"], ["pagepool=8G", "-N", "gpu02"]):
            done(site.admin("mmchconfig", *arguments))
        site.admin("mmshutdown", "-N", "gpu01,gpu02")
        site.admin("mmstartup", "-N", "gpu01,gpu02")
        assert [int(effective(site, host)["pagepool"]) >> 30 for host in ("gpu01", "gpu02")] == [4, 8]
        done(site.admin("mmchconfig", "pagepool=DEFAULT", "-N", "gpu02"))
        scopes = [row["nodeList"] for row in records(site.admin("mmlsconfig", "pagepool", "-Y").stdout)]
        assert scopes == ["", "fast"]


class TestNodeClasses:
    def test_the_human_form_is_that_of_the_transcript(self, site, transcript):
        classes = {"siteA": ["c6f1c3vp1", "c6f1c3vp2"], "siteB": ["c6f1c3vp4", "c6f1c3vp5"]}
        site.change(lambda state: state.update(classes=classes))
        assert site.admin("mmlsnodeclass", "--user").stdout == transcript("storage/gpfs/mmlsnodeclass.txt")

    def test_members_come_and_go(self, site):
        site.join("gpu01", "gpu02", "gpu03")
        done(site.admin("mmcrnodeclass", "fast", "-N", "gpu01"))
        assert site.admin("mmcrnodeclass", "fast", "-N", "gpu01").returncode == 1
        done(site.admin("mmchnodeclass", "fast", "add", "-N", "gpu02,gpu03"))
        done(site.admin("mmchnodeclass", "fast", "delete", "-N", "gpu01"))
        [row] = records(site.admin("mmlsnodeclass", "-Y").stdout, "nodeclass")
        assert (row["nodeClassName"], row["memberNodes"]) == ("fast", "gpu02,gpu03")
        site.admin("mmshutdown", "-N", "gpu03")
        done(site.admin("mmdelnode", "-N", "gpu03"))
        assert site.state()["classes"] == {"fast": ["gpu02"]}

    def test_a_class_that_attributes_use_stays(self, site):
        site.join("gpu01")
        done(site.admin("mmcrnodeclass", "fast", "-N", "gpu01"))
        done(site.admin("mmchconfig", "pagepool=4G", "-N", "fast"))
        assert site.admin("mmdelnodeclass", "fast").returncode == 1
        done(site.admin("mmchconfig", "pagepool=DEFAULT", "-N", "fast"))
        done(site.admin("mmdelnodeclass", "fast"))


class TestKernelModules:
    @pytest.fixture
    def buildable(self, site):
        host = site["gpu01"]
        (host.directory / "lpp/src").mkdir(parents=True)
        (host.directory / "modules/6.13.0/build/include").mkdir(parents=True)
        for tool in ("make", "cpp", "gcc", "g++"):
            (host.directory / "bin" / tool).touch()
        host.environment["PATH"] = f"{host.directory / 'bin'}:{host.environment['PATH']}"
        host.run_kernel("6.13.0")
        return host

    def test_a_build_is_for_the_running_kernel(self, site, buildable, transcript):
        lines = done(buildable.run("mmbuildgpl")).splitlines()
        for line in transcript("storage/gpfs/mmbuildgpl.txt").splitlines():
            start = line.partition(" at ")[0]
            assert any(printed.startswith(start) for printed in lines), line
        assert (buildable.directory / "modules/6.13.0/extra/mmfslinux.ko").read_text() == "5.2.1-0\n"

    def test_without_headers_the_kernel_and_the_package_are_named(self, buildable):
        buildable.run_kernel("6.14.0")
        failed = buildable.run("mmbuildgpl")
        assert (failed.returncode, "linux-headers-6.14.0" in failed.stdout) == (1, True)

    def test_without_modules_gpfs_stays_down_and_the_log_says_why(self, site):
        site.join("gpu01")
        site["gpu01"].boot("second")
        site["gpu01"].run_kernel("6.13.0")
        assert site["gpu01"].run("mmstartup").returncode == 0
        assert site.seen("gpu01", by="gpu01") == "down"
        log = (site["gpu01"].directory / "ras/mmfs.log.latest").read_text()
        assert "6.13.0/extra/mmfs26.ko kernel extension does not exist" in log

    def test_a_daemon_that_another_host_started_ends_without_modules(self, site):
        site.join("gpu01")
        site.admin("mmshutdown", "-N", "gpu01")
        site["gpu01"].run_kernel("6.13.0")
        site.admin("mmstartup", "-N", "gpu01")
        assert site.seen("gpu01", by="gpu01") == "down"

    def test_modules_of_another_release_do_not_match(self, site, buildable):
        done(buildable.run("mmbuildgpl"))
        (buildable.directory / "lpp/release").write_text("5.2.2-0\n")
        site.join("gpu01")
        assert "do not match" in undated((buildable.directory / "ras/mmfs.log.latest").read_text())


class TestFaults:
    def test_a_flapping_daemon_is_up_for_a_moment(self, site):
        site.change(lambda state: state.update(flapping=["gpu01"]))
        site.admin("mmaddnode", "--accept", "-N", "gpu01:::client")
        site.admin("mmstartup", "-N", "gpu01")
        assert [site.seen("gpu01") for _ in range(4)] == ["arbitrating", "active", "active", "down"]

    def test_a_member_that_lost_its_configuration_is_unknown_and_stays(self, site):
        site.join("gpu01")
        (site["gpu01"].directory / "mmfs/gen/mmsdrfs").unlink()
        assert site["gpu01"].run("mmgetstate").returncode == 1
        assert site.seen("gpu01") == "unknown"
        assert site.admin("mmdelnode", "-N", "gpu01").returncode == 1

    def test_a_host_without_power_is_unknown_and_can_be_deleted_though_it_was_active(self, site):
        site.join("gpu01")
        done(site.admin("mmstartup", "-N", "gpu01"))
        assert [site.seen("gpu01") for _ in range(3)][-1] == "active"
        assert site.admin("mmdelnode", "-N", "gpu01").returncode == 1
        off = site.root / "shared/powerless/gpu01"
        off.parent.mkdir()
        off.touch()
        assert site.seen("gpu01") == "unknown"
        done(site.admin("mmdelnode", "-N", "gpu01"))
        assert "gpu01" not in site.state()["nodes"]

    def test_interfaces_change_by_options_and_by_file(self, site, tmp_path):
        site.join("gpu01")
        (tmp_path / "changes").write_text("gpu01 --admin-interface=gpu01-adm\n")
        done(site.admin("mmchnode", "-S", tmp_path / "changes"))
        assert site.state()["nodes"]["gpu01"]["admin"] == "gpu01-adm"
        assert site.admin("mmchnode", "--daemon-interface=gpu02", "-N", "gpu01").returncode == 1
        site.admin("mmshutdown", "-N", "gpu01")
        done(site.admin("mmchnode", "--daemon-interface=gpu02", "-N", "gpu01"))
        node = site.state()["nodes"]["gpu01"]
        assert (node["daemon"], node["ip"]) == ("gpu02", "10.77.1.22")

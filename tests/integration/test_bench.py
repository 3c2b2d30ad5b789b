"""The benchmarks work: run small, on the servers of the tests. What they measure is nobody's concern here."""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from support.config import ROOT
from support.worker import BINARY

SEVERAL_BATCHES = 6000  # so that a tenth and nine tenths are settled at different times: a batch is up to 2,000


def start(program, *arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "tests/bench" / program, *map(str, arguments)],
                          env={**os.environ, "POSTONCE_BENCH_BUILD": str(BINARY.parent)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=150)


def bench(program, *arguments):
    done = start(program, *arguments, "-o", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def drawn(directory, name, found):
    """The plots of what a benchmark found."""
    (directory / f"{name}.json").write_text(json.dumps(found))
    done = start("plots", directory)
    assert done.returncode == 0, done.stderr
    plots = {path.name for path in directory.glob("*.svg")}
    assert all(ElementTree.parse(directory / plot) for plot in plots)
    return plots


@pytest.mark.usefixtures("services")
def test_benchmark_drains_verifies_and_sets_itself_beside_the_ceiling(services, tmp_path):
    for database in services.databases:
        found = bench("run", "--messages", 2000, "--rounds", 1, "--rows-before", 1000, "--batch", 100,
                      "--db", database.name)
        assert found["ratio"] > 0 and found["ceiling"]["rate"]["median"] > 0
        product = {name: figure["median"] for name, figure in found["product"].items()}
        assert 1 < product["worker_rss_mb_at_50"] <= product["worker_peak_rss_mb"]
    assert drawn(tmp_path, "run-one", found) == {"ratio.svg", "rates.svg", "memory.svg", "cpu.svg"}


@pytest.mark.usefixtures("services")
def test_loads_hard_on_one_place_are_drained_and_verified(tmp_path):
    shapes = {"one-order", "one-account", "one-partition", "all-duplicates", "garbage", "early", "four-on-one-account"}
    found = bench("skew", "--messages", SEVERAL_BATCHES, "--rounds", 1)
    assert set(found["shapes"]) == shapes and all(one["rate"]["median"] > 0 for one in found["shapes"].values())
    assert drawn(tmp_path, "skew-one", found) == {"skew.svg"}


@pytest.mark.usefixtures("services")
def test_growth_sets_full_tables_beside_empty_ones(tmp_path):
    found = bench("growth", "--rows", 3000, "--messages", SEVERAL_BATCHES, "--rounds", 1)
    assert found["ratio"] > 0 and set(found["bytes_a_row"]) == {"claim", "outcome", "entry"}
    assert drawn(tmp_path, "growth-one", found) == {"growth.svg"}


@pytest.mark.usefixtures("services")
def test_latency_is_measured_from_the_scheduled_time(tmp_path):
    found = bench("latency", "--rates", "100", "--seconds", 1, "--warm-up", 1, "--no-peer")
    ours = found["latency_ms"][0]["postonce"]
    assert 0 < ours["p50"] <= ours["p99"] <= ours["max"]
    assert all(ours[figure]["p50"] > 0 for figure in ("sent_late_ms", "acknowledged_ms", "fsync_ms"))
    assert drawn(tmp_path, "latency", found) == {"latency.svg"}


@pytest.mark.usefixtures("services")
def test_profile_says_where_the_time_goes_or_why_it_cannot(services, tmp_path):
    for database in services.databases:
        directory = tmp_path / database.name
        directory.mkdir()
        done = start("profile", "--messages", 2000, "--db", database.name, "--to", directory)
        missing = [line for line in done.stderr.splitlines() if line.startswith("SKIPPED: ")]
        assert done.returncode == (75 if missing else 0), done.stdout + done.stderr
        no_perf = any("perf is not " in line for line in missing)
        stacks, statements = directory / "worker-stacks.json", directory / "statements.json"
        assert stacks.exists() != no_perf, done.stderr
        if not no_perf:
            assert any(stack.startswith("postonce;worker_run;") for stack in json.loads(stacks.read_text())["stacks"])
        if database.name == "mariadb":
            assert "SKIPPED: performance_schema is off on this mariadb" in done.stderr
            continue
        found = json.loads(statements.read_text())
        assert {"INSERT INTO claim", "INSERT INTO outcome", "COMMIT"} <= {one["statement"].removesuffix(" (prepared)")
                                                                         for one in found["statements"]}
        assert "7894002680" not in statements.read_text() + done.stdout

"""The benchmarks work: run small, on the servers of the tests. What they measure is nobody's concern here."""
import json
import os
import subprocess
import sys

import pytest
from support.config import ROOT
from support.worker import BINARY


def bench(program, *arguments):
    done = subprocess.run([sys.executable, "-B", ROOT / "tests/bench" / program, *map(str, arguments), "-o", "json"],
                          env={**os.environ, "POSTONCE_BENCH_BUILD": str(BINARY.parent)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.usefixtures("services")
def test_benchmark_drains_verifies_and_sets_itself_beside_the_ceiling(services):
    for database in services.databases:
        found = bench("run", "--messages", 2000, "--rounds", 1, "--rows-before", 1000, "--batch", 100,
                      "--db", database.name)
        assert found["ratio"] > 0 and found["ceiling"]["rate"]["median"] > 0
        product = {name: figure["median"] for name, figure in found["product"].items()}
        assert 1 < product["worker_rss_mb_at_50"] <= product["worker_peak_rss_mb"]


@pytest.mark.usefixtures("services")
def test_loads_hard_on_one_place_are_drained_and_verified():
    shapes = {"one-order", "one-account", "one-partition", "all-duplicates", "garbage", "early", "four-on-one-account"}
    found = bench("skew", "--messages", 1000, "--rounds", 1)
    assert set(found["shapes"]) == shapes and all(one["rate"]["median"] > 0 for one in found["shapes"].values())


@pytest.mark.usefixtures("services")
def test_growth_sets_full_tables_beside_empty_ones():
    found = bench("growth", "--rows", 3000, "--messages", 1000, "--rounds", 1)
    assert found["ratio"] > 0 and set(found["bytes_a_row"]) == {"claim", "outcome", "entry"}


@pytest.mark.usefixtures("services")
def test_latency_is_measured_from_the_scheduled_time():
    found = bench("latency", "--rates", "100", "--seconds", 1, "--no-peer")["latency_ms"][0]["postonce"]
    assert 0 < found["p50"] <= found["p99"] <= found["max"]

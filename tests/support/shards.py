"""Which test file runs beside which servers: the files of the server tests, split so that no half waits for the other."""
import re

# Seconds that the long ones took on two cores with other work to do: only their proportion counts. A file that is not
# named here is taken to need SECONDS_A_TEST for each of its test functions.
SECONDS = {
    "test_failpoints.py": 198, "test_replay.py": 180, "test_plans.py": 171, "test_database_outage.py": 122,
    "test_database_errors.py": 112, "test_frozen_worker.py": 106, "test_parking.py": 98, "test_bench.py": 92,
    "test_scenario_partitions.py": 90, "test_topic_trouble.py": 90, "test_breaker.py": 80, "test_mysql_layer.py": 76,
    "test_scenario_shutdown.py": 72, "test_run.py": 67, "test_redelivery.py": 64, "test_scenario_secure_brokers.py": 60,
    "test_flood.py": 57, "test_parking_faults.py": 55, "test_pause.py": 54, "test_broker_outage.py": 53,
    "test_verdicts.py": 50, "test_letter_topic.py": 49, "test_lost_commit.py": 47, "test_orders.py": 46,
    "test_dead_letters.py": 44, "test_classification.py": 38, "test_main_job.py": 35, "test_worker.py": 27, "test_histories.py": 45,
}
SECONDS_A_TEST = 3
TEST = re.compile(r"^def test_", re.MULTILINE)


def weight(path):
    return SECONDS.get(path.name) or SECONDS_A_TEST * len(TEST.findall(path.read_text()))


def split(paths, count):
    """The paths in `count` lists of about the same weight, each in the order of names; the same for the same files."""
    parts = [(0, number, []) for number in range(count)]
    for path in sorted(paths, key=lambda path: (-weight(path), path)):
        total, number, chosen = min(parts)
        parts[number] = (total + weight(path), number, [*chosen, path])
    return [sorted(chosen) for _, _, chosen in parts if chosen]

"""Which test file runs beside which servers: the files of the server tests, split so that no half waits for the other."""
import re

# Seconds that a file took on two cores, where they are many. A file that is not named here is taken to need
# SECONDS_A_TEST for each of its test functions: that is good enough until it is the one that all wait for.
SECONDS = {}
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

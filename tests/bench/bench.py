"""What the benchmarks share: messages, a database, the pool, the ceiling, and the figures of processes.

All run under tests/with-services; `inside_services` starts it where it is not running. Rates are of the steady part:
from the moment a tenth is settled until nine tenths are, by the database's own clock, for everything that is compared.
"""
import contextlib
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import config as configuration  # noqa: E402
from support import databases  # noqa: E402
from support.database import Database  # noqa: E402
from support.servers import STATE_VARIABLE, Services  # noqa: E402
from support.topics import Kafka  # noqa: E402

MERCHANTS, PARTITIONS, BATCH = 100, 4, 2000
FIRST_TXN = 7894002680000000000
BUILD = pathlib.Path(os.environ.get("POSTONCE_BENCH_BUILD") or ROOT / "build-bench")
TICKS = os.sysconf("SC_CLK_TCK")
ROWS_A_STATEMENT = 2000
MESSAGE_BYTES = 700
PATIENCE_S = 3600
RSS_AT = (10, 50, 90)  # percent of a drain's time


def inside_services(db):
    """Starts this program again under tests/with-services if no servers are there."""
    if os.environ.get(STATE_VARIABLE):
        return
    memory = ["--buffer-pool", os.environ.get("POSTONCE_BENCH_POOL", "2G")]
    os.execv(ROOT / "tests/with-services", ["with-services", "--db", db, *memory, sys.executable, "-B", *sys.argv])


def build():
    """The program as it is shipped, and the ceiling beside it."""
    if os.environ.get("POSTONCE_BENCH_BUILD"):
        return
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": ROOT}
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", BUILD, "--buildtype=release", "-Dfailpoints=false"], **quiet)
    subprocess.run(["ninja", "-C", BUILD, "postonce", "tests/bench/ceiling", "tests/bench/observe"], **quiet)


# ---- messages

def merchant(number):
    return number * 2654435761 % MERCHANTS


def message(number, **changes):
    """The notification of a number, as a dict."""
    return {"channel": f"M{merchant(number):02}", "tenant_id": 1, "txn": str(FIRST_TXN + number),
            "event": "PAYMENT_RECEIVED", "order_no": f"O{number:08}", "amount_minor": 1000 + number,
            "currency": "CNY", "occurred_at": "2026-11-11T12:00:00+08:00", **changes}


def encode(notification, padding):
    """JSON of MESSAGE_BYTES, as long as a channel's own body: what it sent is kept for people."""
    body = {"sn": notification["txn"], "payway": "3", "sub_payway": "1", "status": "SUCCESS", "subject": "bench"}
    bare = json.dumps({**notification, "body": {**body, "sign": ""}})
    return json.dumps({**notification, "body": {**body, "sign": padding[:max(0, MESSAGE_BYTES - len(bare))]}}).encode()


def padding(chooser):
    return "".join(chooser.choice("abcdefghijklmnopqrstuvwxyz0123456789+/") for _ in range(MESSAGE_BYTES))


def with_duplicates(values, percent, distance, chooser):
    """percent of all messages are exact copies, `distance` messages after their original. [(number, value)]"""
    result, due = [], {}
    for place, one in enumerate(values):
        result.append(one)
        if chooser.random() < percent / (100 - percent):
            due.setdefault(place + distance, []).append(one)
        result.extend(due.pop(place, ()))
    for rest in due.values():
        result.extend(rest)
    return result


def messages(count, seed=20261130, duplicates=5, distance=2000):
    """count messages in all, [(number, value)], and how many are distinct."""
    chooser = random.Random(seed)
    distinct = count - count * duplicates // 100
    text = padding(chooser)
    values = [(number, encode(message(number), text)) for number in range(distinct)]
    return with_duplicates(values, duplicates, distance, chooser)[:count], distinct


# ---- the world of one round

class PatientDatabase(Database):
    """Checks over tens of millions of rows take their time."""

    def connect(self, **options):
        return super().connect(**{"read_timeout": PATIENCE_S, **options})


class World:
    """A database with tables and a topic of its own. settings: changes of the configuration."""

    def __init__(self, directory, services, db_name, partitions=PARTITIONS, **settings):
        self.directory = pathlib.Path(directory)
        self.server = services.database(db_name)
        self.broker = services.kafka[0]
        self.db = PatientDatabase(self.server)
        self.claims_before = 0  # the last claim that is not of this round
        self.kafka = Kafka(f"{self.broker.host}:{self.broker.port}", services.kafka)
        self.topic = self.kafka.topic(partitions)
        self.partitions = partitions
        self._configure(settings)
        self.command("migrate")

    def _configure(self, settings):
        profiles = []
        for number in range(MERCHANTS):
            path = self.directory / f"M{number:02}.yaml"
            path.write_text(f"channel: M{number:02}\nbody: envelope\n")
            profiles.append(str(path))
        password = self.directory / "password"
        password.write_text(self.db.password)
        base = configuration.build(self.kafka.bootstrap, f"g-{self.topic}", self.topic,
                                   self.kafka.topic(1, name=f"{self.topic}.DLT"), self.db, password)
        post = [{"debit": "channel:clearing", "credit": "merchant:{channel}:payable", "amount": "amount"}]
        base = configuration.merge(base, {"channels": profiles, "events": {"PAYMENT_RECEIVED": {"post": post}},
                                          "log": {"level": "warn"}, "batch": {"max_records": BATCH},
                                          "dead_letter": {"max_per_minute": 1_000_000}})
        # Not the tests' quick time-outs: what a pool is run with.
        # Only that all share the work within a second, not three: a small backlog would be over by then.
        # More than 500 ms: so long after its first assignment librdkafka 2.0.2 may ask where a new group's partitions
        # begin, a heartbeat that is due goes with it, and a partition that is taken away while it is asked for is
        # fetched on, to no reader, until its queue is full.
        base["kafka"] = {"bootstrap.servers": self.kafka.bootstrap, "group.id": f"g-{self.topic}",
                         "heartbeat.interval.ms": 700}
        self.config = configuration.merge(base, settings)
        self.config_file = configuration.write(self.directory / "postonce.yaml", self.config)

    def command(self, *args):
        subprocess.run([BUILD / "postonce", *args, "--config", self.config_file], check=True,
                       stdout=subprocess.DEVNULL)

    def register(self, numbers, amount=lambda number: 1000 + number):
        rows = [f"(1, 'O{number:08}', {amount(number)}, 'CNY', 'PENDING_PAY')" for number in numbers]
        for at in range(0, len(rows), ROWS_A_STATEMENT):
            self.db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status) VALUES "
                            + ", ".join(rows[at:at + ROWS_A_STATEMENT]))

    def publish(self, values):
        """[(number, value)]: a number's copies go to the same partition, as a gateway that keys by order does."""
        step = 20000
        for at in range(0, len(values), step):
            self.kafka.produce_many(self.topic, [
                {"value": value, "partition": number % self.partitions} for number, value in values[at:at + step]])

    def close(self):
        self.db.drop()
        self.kafka.delete_all()


@contextlib.contextmanager
def opened(services, db_name, **settings):
    """A World that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="postonce-bench-") as directory:
        world = World(directory, services, db_name, **settings)
        try:
            yield world
        finally:
            world.close()


def rotated(parts, number):
    """Every round begins with another one: what follows hard work finds the machine slower."""
    first = number % len(parts)
    return parts[first:] + parts[:first]


# ---- figures of processes

def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def machine_busy_seconds():
    user, nice, system, _idle, _wait, irq, softirq = (
        int(field) for field in pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / TICKS


class Meter:
    """CPU of the servers and of the whole machine between start and stop."""

    def __init__(self, world):
        self.pids = {"database": world.server.pid, "broker": world.broker.pid}
        self.before = self._read()

    def _read(self):
        return {**{name: cpu_seconds(pid) for name, pid in self.pids.items()}, "machine": machine_busy_seconds()}

    def stop(self):
        after = self._read()
        return {name: after[name] - self.before[name] for name in after}


def rss_kb(pid):
    """(resident now, the most so far), None when it is gone. (wait4's figure counts what it was forked from.)"""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = {name: int(status.partition(name)[2].split()[0]) for name in ("VmRSS:", "VmHWM:") if name in status}
    return (found["VmRSS:"], found["VmHWM:"]) if len(found) == 2 else None


def pss_kb(pid):
    """What is resident, of pages that processes share only its part; 0 when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(text.partition("\nPss:")[2].split()[0]) if "\nPss:" in text else 0


class Pool:
    """Workers that drain the topic to its end: their CPU, and each one's memory while they do."""

    def __init__(self, world, workers, prefix=()):
        self.log, self.cpu_s = open(world.directory / "workers.log", "ab"), 0.0
        self.began = time.monotonic()
        command = [*prefix, BUILD / "postonce", "run", "--until-end", "--config", world.config_file]
        self.running = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
                        for _ in range(workers)]
        self.memory = {worker.pid: [] for worker in self.running}  # [(seconds since the start, kB now, most kB)]
        self.most_kb = {"rss": 0, "pss": 0}  # of all of them at once

    def wait(self):
        while self.running:
            self._look_at_all([worker.pid for worker in self.running])
            for worker in list(self.running):
                self._look(worker)
            time.sleep(0.05)
        self.wall_s = time.monotonic() - self.began
        self.log.close()

    def _look_at_all(self, pids):
        now = {"rss": sum((rss_kb(pid) or (0,))[0] for pid in pids), "pss": sum(pss_kb(pid) for pid in pids)}
        self.most_kb = {name: max(most, now[name]) for name, most in self.most_kb.items()}

    def _look(self, worker):
        found = rss_kb(worker.pid)
        if found:
            self.memory[worker.pid].append((time.monotonic() - self.began, *found))
        ended, status, usage = os.wait4(worker.pid, os.WNOHANG)
        if not ended:
            return
        self.running.remove(worker)
        worker.returncode = os.waitstatus_to_exitcode(status)
        assert worker.returncode == 0, f"a worker ended with {worker.returncode}: {self.log.name}"
        self.cpu_s += usage.ru_utime + usage.ru_stime

    def rss_mb(self, percent):
        """The largest worker's, that much of the time into the run."""
        at = self.wall_s * percent / 100
        return max((min(seen, key=lambda one: abs(one[0] - at))[1] for seen in self.memory.values() if seen),
                   default=0) / 1024

    def peak_rss_mb(self):
        # The kernel notes the most now and then: what is resident may be above it.
        return max((max(one[1:]) for seen in self.memory.values() for one in seen), default=0) / 1024


def drain(world, workers, count):
    """A pool to the end of the topic, which has count messages; its figures, CPU by the message."""
    meter = Meter(world)
    pool = Pool(world, workers)
    pool.wait()
    servers, micro = meter.stop(), 1e6 / count
    return {"wall_s": pool.wall_s, "worker_cpu_us": pool.cpu_s * micro,
            "database_cpu_us": servers["database"] * micro, "broker_cpu_us": servers["broker"] * micro,
            **{f"worker_rss_mb_at_{percent}": pool.rss_mb(percent) for percent in RSS_AT},
            "worker_peak_rss_mb": pool.peak_rss_mb(),
            **{f"pool_peak_{name}_mb": most / 1024 for name, most in pool.most_kb.items()},
            "others_cpu_s": servers["machine"] - pool.cpu_s - servers["database"] - servers["broker"]}


def steady_rate(world, table="outcome", column="settled_at"):
    """Rows a second between the first and the last tenth, by the database's clock; and how many this round wrote."""
    ours = f"{table} WHERE {'id' if table == 'claim' else 'claim_id'} > {world.claims_before}"
    count = world.db.value(f"SELECT COUNT(*) FROM {ours}")
    at = [world.db.value(f"SELECT {column} FROM {ours} ORDER BY {column} LIMIT 1 OFFSET {count * part // 10}")
          for part in (1, 9)]
    seconds = (at[1] - at[0]).total_seconds()
    return (count * 9 // 10 - count // 10) / seconds if seconds > 0 else float("nan"), count


def product_round(world, values, distinct, workers, register=True, verify=True):
    """Publishes, drains, verifies; the figures of one round."""
    if register:
        world.register(range(distinct))
    world.publish(values)
    figures = drain(world, workers, len(values))
    rate, count = steady_rate(world)
    assert count == distinct, f"{count} of {distinct} were settled: {world.directory}/workers.log"
    violations = world.db.violations() if verify else []
    assert not violations, "tests/invariants.sql:\n" + "\n".join(violations)
    return {"rate": rate, **figures}


def ceiling_round(world, count, connections, batch=BATCH):
    """The same rows by the best SQL alone."""
    world.register(range(count))
    meter = Meter(world)
    done = subprocess.run([BUILD / "tests/bench/ceiling", "--host", world.db.host, "--port", str(world.db.port),
                           "--user", world.db.user, "--database", world.db.name, "--messages", str(count),
                           "--connections", str(connections), "--batch", str(batch)], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "POSTONCE_BENCH_PASSWORD": world.db.password})
    servers, own = meter.stop(), json.loads(done.stdout)
    rate, settled = steady_rate(world)
    joined = world.db.value("SELECT COUNT(*) FROM outcome o JOIN claim c ON c.id = o.claim_id"
                            f" WHERE o.claim_id > {world.claims_before}")
    assert settled == joined == count and world.db.value("SELECT SUM(amount) FROM balance") == 0
    return {"rate": rate, "wall_s": own["seconds"], "client_cpu_us": own["cpu_seconds"] * 1e6 / count,
            "database_cpu_us": servers["database"] * 1e6 / count}


# ---- what is printed

def spread(rounds, figure):
    found = sorted(one[figure] for one in rounds)
    return {"median": statistics.median(found), "min": found[0], "max": found[-1]}


def summary(rounds):
    return {figure: spread(rounds, figure) for figure in rounds[0]}


def machine(server):
    model = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    with databases.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION(), @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@log_bin,"
                       " @@innodb_buffer_pool_size")
        version, flush, sync, binlog, pool = cursor.fetchone()
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "database": version,
            "innodb_flush_log_at_trx_commit": int(flush), "sync_binlog": int(sync), "log_bin": int(binlog),
            "buffer_pool_mb": int(pool) // 2**20, "load_before": os.getloadavg()[0]}


def print_summary(title, figures):
    print(title)
    for name, one in figures.items():
        print(f"  {name:22} {one['median']:12.1f}   ({one['min']:.1f} … {one['max']:.1f})")


def services():
    return Services.load()


# ---- rows that are there before

LOAD_CHUNK = 200_000


def load(world, rows):
    """Settled claims with outcomes and two entries each, of orders long gone; server-side, in chunks, not in the
    binary log, which would take as much disk again."""
    if not rows:
        return
    db = world.db
    db.execute("SET SESSION sql_log_bin = 0")
    db.execute("CREATE TABLE bench_number (n INT PRIMARY KEY)")
    for at in range(0, LOAD_CHUNK, ROWS_A_STATEMENT * 10):
        db.execute("INSERT INTO bench_number VALUES " + ",".join(
            f"({n})" for n in range(at, at + ROWS_A_STATEMENT * 10)))
    db.execute("INSERT INTO account (tenant_id, code, currency, created_at) VALUES (1, 'bench:before', 'CNY', NOW(6)),"
               " (1, 'bench:before:other', 'CNY', NOW(6))")
    first, second = (number for number, in db.rows("SELECT id FROM account WHERE code LIKE 'bench:before%%'"
                                                   " ORDER BY id"))
    for base in range(0, rows, LOAD_CHUNK):
        _load_chunk(db, base, min(LOAD_CHUNK, rows - base), first, second)
    db.execute("INSERT INTO balance (account_id, slot, amount) VALUES (%s, 0, %s), (%s, 0, %s)",
               first, 1000 * rows, second, -1000 * rows)
    db.execute("DROP TABLE bench_number")
    db.execute("SET SESSION sql_log_bin = 1")
    world.claims_before = rows


def _load_chunk(db, base, rows, first, second):
    key = "CONCAT('M', LPAD(n %% 100, 2, '0'), ':', 6894002680000000000 + %s + n, ':PAYMENT_RECEIVED')"
    db.execute("INSERT INTO claim (id, tenant_id, idem_key, channel, event_type, order_no, amount, currency,"
               " payload_hash, hash_version, source_topic, source_partition, source_offset, deliveries, created_at,"
               f" last_seen_at) SELECT %s + n + 1, 1, {key}, 'M00', 'PAYMENT_RECEIVED', CONCAT('B', %s + n), 1000,"
               " 'CNY', UNHEX(SHA2(n, 256)), 1, 'bench-before', n %% 4, %s + n, 1, NOW(6), NOW(6)"
               " FROM bench_number WHERE n < %s", base, base, base, base, rows)
    db.execute("INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version, source_topic,"
               " source_partition, source_offset, turn, effective_at, settled_at) SELECT %s + n + 1, 'POSTED',"
               " '{\"posted\":\"BEFORE\"}', UNHEX(SHA2(n, 256)), 1, 'bench-before', n %% 4, %s + n, 0, NOW(6),"
               " '2026-01-01' FROM bench_number WHERE n < %s", base, base, rows)
    for line, account, amount in ((0, first, 1000), (1, second, -1000)):
        db.execute("INSERT INTO entry (claim_id, line, account_id, amount, currency) SELECT %s + n + 1, %s, %s, %s,"
                   " 'CNY' FROM bench_number WHERE n < %s", base, line, account, amount, rows)

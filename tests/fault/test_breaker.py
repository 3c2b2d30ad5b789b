"""An outage that a person must mend strikes in the middle of the work: intake stops, nothing is dead-lettered, and the
same worker goes on by itself. (A server that is stopped, killed or frozen: test_database_outage.py.)"""
import contextlib
import shutil

import flood
import pymysql
import pytest
from support import databases
from support.database import Database
from support.wait import wait_until
from support.worker import Postonce, free_port

COUNT, BATCH = 2000, 20
POINT, PASS = "posting.committed", 20  # the worker is frozen there while the fault is made: between two transactions
FILLERS, FEW_CONNECTIONS = 15, 10  # MariaDB knows no fewer


@contextlib.contextmanager
def limited_user(postonce):
    """A user with the rights that a worker needs on each table, no more: read_only and the last connection's
    reserve are not for it. The configuration names it."""
    db, user = postonce.db, postonce.db.name
    db.execute(f"CREATE USER {user} IDENTIFIED BY %s", db.password)
    for table in db.tables() - {"notify_claim"}:
        db.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {db.name}.{table} TO {user}")
    postonce.configure({"mysql": {"user": user}})
    try:
        yield user
    finally:
        db.execute(f"DROP USER {user}")


def kill_connections(db, worker):
    found = flood.connections(db, worker)
    for number in found:
        with contextlib.suppress(pymysql.err.OperationalError):  # it may have ended meanwhile
            db.execute(f"KILL {number}")
    return len(found)


@contextlib.contextmanager
def read_only(db, user, worker):
    db.execute("SET GLOBAL read_only = 1")
    try:
        yield
    finally:
        db.execute("SET GLOBAL read_only = 0")


@contextlib.contextmanager
def insert_revoked(db, user, worker):
    db.execute(f"REVOKE INSERT ON {db.name}.entry FROM {user}")
    yield
    db.execute(f"GRANT INSERT ON {db.name}.entry TO {user}")


@contextlib.contextmanager
def table_renamed(db, user, worker):
    db.execute("RENAME TABLE balance TO elsewhere")
    yield
    db.execute("RENAME TABLE elsewhere TO balance")


@contextlib.contextmanager
def wrong_password(db, user, worker):
    db.execute(f"ALTER USER {user} IDENTIFIED BY 'another'")
    assert kill_connections(db, worker) > 0
    yield
    db.execute(f"ALTER USER {user} IDENTIFIED BY %s", db.password)


@contextlib.contextmanager
def no_connection_left(db, user, worker):
    before = db.value("SELECT @@GLOBAL.max_connections")
    with contextlib.ExitStack() as fillers:
        for _ in range(FILLERS):
            fillers.enter_context(db.connect())
        db.execute(f"SET GLOBAL max_connections = {FEW_CONNECTIONS}")
        try:
            assert kill_connections(db, worker) > 0
            yield
        finally:
            db.execute(f"SET GLOBAL max_connections = {before}")


def begin(postonce):
    """COUNT notifications. Returns (the worker's port, the payments); it is not started."""
    port = free_port()
    postonce.configure({"batch": {"max_records": BATCH}, "http": {"port": port},
                        "kafka": {"session.timeout.ms": 30000}})
    postonce.migrate()
    payments = flood.payments(COUNT)
    flood.register(postonce.db, payments)
    flood.publish(postonce, payments)
    return port, payments


def start(postonce):
    """A worker that stands frozen in the middle of them."""
    worker = postonce.start(failpoints=f"{POINT}=freeze@{PASS}")
    flood.wait_for_strike(postonce, worker, POINT, "freeze")
    wait_until(worker.is_frozen, "the worker is frozen")
    assert 0 < flood.outcomes(postonce.db) < COUNT, "nothing was in flight"
    return worker


def assert_stopped(postonce, worker, port, codes):
    """Red, alive, told, and nothing was held against a record."""
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 503, "readiness goes red")
    assert flood.outcomes(postonce.db) < COUNT, "nothing was in flight"
    postonce.wait_for(lambda: any(f"alarm=SYSTEMIC code={code}" in worker.log_text() for code in codes), "it is told")
    assert flood.page(port, "/healthz")[0] == 200 and worker.alive()
    assert flood.metric(port, "postonce_dead_letters_total") == 0
    settled = flood.outcomes(postonce.db)
    assert sum(end or 0 for end in postonce.kafka.committed(postonce.group, postonce.topic).values()) <= settled


def finish(postonce, worker, port, payments):
    """The same worker brings everything to its end by itself."""
    flood.wait_for_outcomes(postonce, COUNT)
    postonce.wait_for_lag(0)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again")
    assert flood.metric(port, "postonce_rebalances_total") == 1
    assert worker.stop() == 0 and len(postonce.workers) == 1
    flood.assert_posted_once(postonce, payments)
    for table in ("failure", "parked", "pause"):
        assert postonce.db.value(f"SELECT COUNT(*) FROM {table}") == 0


def strike(postonce, fault, *codes):
    port, payments = begin(postonce)
    with limited_user(postonce) as user:
        worker = start(postonce)
        with fault(postonce.db, user, worker):
            worker.thaw()
            assert_stopped(postonce, worker, port, codes)
        finish(postonce, worker, port, payments)


@pytest.mark.both_databases
@pytest.mark.parametrize("fault,codes", [
    (read_only, [1290]), (wrong_password, [1045]), (no_connection_left, [1040]),
], ids=["read_only", "wrong_password", "no_connection_left"])
def test_outage_of_the_server_dead_letters_nothing_and_ends_by_itself(postonce, fault, codes):
    strike(postonce, fault, *codes)


@pytest.mark.parametrize("fault,codes", [(insert_revoked, [1142]), (table_renamed, [1146])],
                         ids=["insert_revoked", "table_renamed"])
def test_outage_of_a_table_dead_letters_nothing_and_ends_by_itself(postonce, fault, codes):
    strike(postonce, fault, *codes)


# The tablespace is full.

SMALL = ["--innodb-data-file-path=ibdata1:12M:autoextend:max:64M", "--innodb-file-per-table=OFF"]
ROWS_A_STATEMENT = 64


@pytest.fixture
def crowded(tmp_path, kafka, services):
    """postonce on a server of its own, all of whose tables stand in one file that ends at 64 MB. MySQL: its undo logs
    are elsewhere, while MariaDB 10.11 aborts when its rollback finds no room."""
    if "mysql" in services.skipped:
        pytest.skip(f"mysql: {services.skipped['mysql']}")
    preparation = databases.prepare_mysql(tmp_path, lambda: None)
    program, server = None, preparation.server
    try:
        preparation.initialized()
        server.facts["argv"] = [*server.argv, *SMALL]
        server.launch(extra=preparation.first_start, bound_to_parent=True)
        server.wait_ready()
        program = Postonce(tmp_path, kafka, Database(server))
        yield program
    finally:
        if program:
            program.close()
        server.kill()
        shutil.rmtree(preparation.home)


def fill(db):
    """Leaves less room than the rest of the notifications takes. Rows that stand in their pages: at the end of a file
    both servers abort over larger values."""
    db.execute("CREATE TABLE ballast (body VARBINARY(7000)) ENGINE=InnoDB")
    with pytest.raises(pymysql.err.OperationalError, match="1114"):
        while True:
            db.execute("INSERT INTO ballast VALUES " + ", ".join(["(REPEAT('x', 7000))"] * ROWS_A_STATEMENT))


def test_full_tablespace_dead_letters_nothing_and_is_gone_on_from_when_there_is_room(crowded):
    db = crowded.db
    port, payments = begin(crowded)
    worker = start(crowded)
    fill(db)
    worker.thaw()
    assert_stopped(crowded, worker, port, [1114])
    db.execute("DROP TABLE ballast")
    finish(crowded, worker, port, payments)
    assert db.violations() == []

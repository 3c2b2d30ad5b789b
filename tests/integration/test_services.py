"""The servers themselves: what they are, and that a test can do to them what fault tests need."""
import threading
import time

import pymysql
import pytest

from support.wait import wait_until


@pytest.mark.both_databases
def test_database_is_the_one_it_is_called(db):
    version = db.value("SELECT VERSION()")
    if db.kind == "mysql":
        assert "MariaDB" not in version and version.startswith(("8.", "9."))
    else:
        assert "MariaDB" in version


@pytest.mark.both_databases
def test_database_is_durable(db):
    assert db.value("SELECT @@innodb_flush_log_at_trx_commit") == 1
    assert db.value("SELECT @@sync_binlog") == 1
    assert db.value("SELECT @@log_bin") == (1 if db.kind == "mysql" else 0)


@pytest.mark.both_databases
def test_committed_rows_outlive_kill_and_restart_of_the_database(db):
    db.execute("CREATE TABLE kept (n INT PRIMARY KEY) ENGINE=InnoDB")
    db.execute("INSERT INTO kept VALUES (1)")
    before = db.server.pid
    db.server.kill()
    assert not db.server.alive()
    with pytest.raises(pymysql.err.OperationalError):
        db.connect(connect_timeout=1)
    db.server.start()
    assert db.server.pid != before
    assert db.rows("SELECT n FROM kept") == [(1,)]


@pytest.mark.both_databases
def test_frozen_database_answers_when_thawed(db):
    answers = []
    db.server.freeze()
    asking = threading.Thread(target=lambda: answers.append(db.value("SELECT 1")))
    asking.start()
    asking.join(0.2)
    assert answers == []
    db.server.thaw()
    asking.join(20)
    assert answers == [1]


def test_produced_records_come_back_as_they_were(kafka):
    topic = kafka.topic(partitions=2)
    then = (int(time.time()) - 3600) * 1000  # within the topic's retention
    assert kafka.produce(topic, b"one", key=b"k", headers=[("h", b"1"), ("h", b"2")], partition=1,
                         timestamp=then) == (1, 0)
    assert kafka.produce(topic, None, partition=0) == (0, 0)
    assert kafka.produce(topic, b"", key=b"", partition=0) == (0, 1)
    null, empty, one = kafka.consume(topic)
    assert (null.key, null.value) == (None, None)
    assert (empty.key, empty.value) == (b"", b"")
    assert one == (1, 0, b"k", b"one", [("h", b"1"), ("h", b"2")], then)
    assert kafka.end_offsets(topic) == {0: 2, 1: 1}
    assert kafka.committed("nobody", topic) == {0: None, 1: None}
    assert kafka.lag("nobody", topic) == 3


def test_topic_that_was_deleted_is_gone(kafka):
    topic = kafka.topic()
    kafka.delete(topic)
    wait_until(lambda: topic not in kafka._admin.list_topics(timeout=5).topics, "the topic is gone")


def test_broker_keeps_what_it_acknowledged_through_a_restart(kafka):
    topic = kafka.topic()
    kafka.produce(topic, b"kept")
    kafka.servers[0].kill()
    kafka.servers[0].start()
    assert [record.value for record in kafka.consume(topic)] == [b"kept"]


def through(proxy, db, **options):
    return pymysql.connect(host=proxy.host, port=proxy.port, user=db.user, password=db.password, database=db.name,
                           connect_timeout=5, read_timeout=20, **options)


@pytest.mark.both_databases
def test_commit_whose_reply_is_dropped_is_committed(proxy, db):
    db.execute("CREATE TABLE kept (n INT PRIMARY KEY) ENGINE=InnoDB")
    trap = proxy.drop_reply(r"^COMMIT", nth=2)
    connection = through(proxy, db)
    for n in (1, 2):
        connection.cursor().execute("INSERT INTO kept VALUES (%s)", n)
        if n == 1:
            connection.commit()
    with pytest.raises(pymysql.err.OperationalError):
        connection.commit()
    assert trap.struck.is_set() and trap.text == "COMMIT"
    assert db.rows("SELECT n FROM kept ORDER BY n") == [(1,), (2,)]


def test_commit_that_is_dropped_is_rolled_back(proxy, db):
    db.execute("CREATE TABLE kept (n INT PRIMARY KEY) ENGINE=InnoDB")
    trap = proxy.drop_query(r"^COMMIT")
    connection = through(proxy, db)
    connection.cursor().execute("INSERT INTO kept VALUES (1)")
    with pytest.raises(pymysql.err.OperationalError):
        connection.commit()
    assert trap.struck.is_set()
    assert db.rows("SELECT n FROM kept") == []


def test_proxy_refuses_cuts_and_accepts_again(proxy, db):
    connection = through(proxy, db)
    assert proxy.refuse() == 1
    with pytest.raises(pymysql.err.OperationalError):
        connection.ping(reconnect=False)
    with pytest.raises(pymysql.err.OperationalError):
        through(proxy, db)
    proxy.accept()
    with through(proxy, db).cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == ((1,),)


def test_proxy_passes_rows_larger_than_its_buffers(proxy, db):
    with through(proxy, db).cursor() as cursor:
        cursor.execute("SELECT LENGTH(%s), REPEAT('x', 1000000)", "y" * 1000000)
        assert cursor.fetchall() == ((1000000, "x" * 1000000),)


def test_stalled_proxy_keeps_the_connection_and_passes_nothing(proxy, db):
    connection = through(proxy, db)
    answers = []

    def ask():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            answers.append(cursor.fetchone())

    proxy.stall()
    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(0.2)
    assert answers == []
    proxy.flow()
    asking.join(20)
    assert answers == [(1,)]

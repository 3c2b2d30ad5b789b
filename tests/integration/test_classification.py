"""One table says what each error is taken for; here the real servers give the codes."""
import contextlib
import json
import socket
import threading
import uuid

import pymysql
import pytest
from confluent_kafka import KafkaError, Producer

from support.wait import wait_until

# DESIGN 5, and what else is provoked below: code -> class.
DESIGN = {
    **dict.fromkeys([1213, 1205, 1203, 1317, 3024, 1969, 3572, 2006, 2013, 2055, 4031, 1927, 2002, 2003], "TRANSIENT"),
    **dict.fromkeys([1040, 1044, 1045, 1046, 1049, 1054, 1114, 1142, 1143, 1146, 1226, 1227, 1235, 1290, 1356, 1690,
                     1792], "SYSTEMIC"),
    **dict.fromkeys([1406, 1264, 1265, 1292, 1300, 1366, 1048, 3819, 4025], "RECORD"),
    1062: "EXISTS", 1064: "BUG",
}
CONNECTING = {1040, 1044, 1045, 1049, 1203, 1226}  # whatever they are elsewhere


@pytest.fixture
def table(postonce):
    return {(row["source"], row["code"]): row
            for row in json.loads(postonce.run("check", "--errors", "-o", "json", config=False).stdout)["errors"]}


class Server:
    """The server under test: sessions as its administrator and as a plain user of this test."""

    def __init__(self, db):
        self.db, self.open = db, []
        self.user = "u" + uuid.uuid4().hex[:10]
        self.admin = self.session()
        self.admin.cursor().execute(f"CREATE USER '{self.user}'@'%' IDENTIFIED BY 'plain'")
        self.grant("SELECT, INSERT, UPDATE, DELETE", "*")

    def grant(self, rights, table):
        self.admin.cursor().execute(f"GRANT {rights} ON {self.db.name}.{table} TO '{self.user}'@'%'")

    def session(self, user=None, password="plain", database=True, port=None, **options):
        connection = pymysql.connect(
            host=self.db.host, port=port or self.db.port, user=user or self.db.user,
            password=password if user else self.db.password,
            database=self.db.name if database is True else database, autocommit=True, **options)
        self.open.append(connection)
        connection.cursor().execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = 1")
        return connection

    def plain(self, **options):
        return self.session(self.user, **options)

    def run(self, *statements, connection=None):
        """Runs them; the code of the one that fails, or None."""
        try:
            with (connection or self.session()).cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    cursor.fetchall()
        except pymysql.MySQLError as error:
            return error.args[0]
        return None

    @contextlib.contextmanager
    def variable(self, name, value):
        cursor = self.admin.cursor()
        cursor.execute(f"SELECT @@GLOBAL.{name}")
        before = cursor.fetchone()[0]
        cursor.execute(f"SET GLOBAL {name} = {value}")
        try:
            yield
        finally:
            cursor.execute(f"SET GLOBAL {name} = {before}")

    def close(self):
        for connection in self.open[1:]:
            with contextlib.suppress(pymysql.MySQLError):
                connection.close()
        self.admin.cursor().execute(f"DROP USER '{self.user}'@'%'")
        self.admin.close()


@pytest.fixture
def server(db):
    made = Server(db)
    with made.admin.cursor() as cursor:
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(4) NOT NULL, at DATETIME NULL,"
                       " small TINYINT NULL, kind ENUM('a') NULL, CONSTRAINT positive CHECK (small > 0))"
                       " DEFAULT CHARSET=utf8mb4")
        cursor.execute("INSERT INTO t (id, name) VALUES (1, 'one'), (2, 'two')")
    yield made
    made.close()


def same_key(server):
    return server.run("INSERT INTO t (id, name) VALUES (1, 'x')")


def lock_wait(server):
    holder = server.session()
    assert server.run("BEGIN", "SELECT * FROM t WHERE id = 1 FOR UPDATE", connection=holder) is None
    return server.run("BEGIN", "SELECT * FROM t WHERE id = 1 FOR UPDATE")


def deadlock(server):
    one, two = server.session(), server.session()
    codes = [None, None]
    for connection, row in ((one, 1), (two, 2)):
        assert server.run("SET innodb_lock_wait_timeout = 20", "BEGIN",
                          f"UPDATE t SET name = 'x' WHERE id = {row}", connection=connection) is None

    def cross():
        codes[0] = server.run("UPDATE t SET name = 'y' WHERE id = 2", connection=one)

    waiting = threading.Thread(target=cross)
    waiting.start()
    codes[1] = server.run("UPDATE t SET name = 'y' WHERE id = 1", connection=two)
    waiting.join()
    return codes[0] or codes[1]


def nowait(server):
    holder = server.session()
    assert server.run("BEGIN", "SELECT * FROM t WHERE id = 1 FOR UPDATE", connection=holder) is None
    return server.run("SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT")


def no_right_on_table(server):
    return server.run(f"CREATE TABLE {server.db.name}.u (id INT)", connection=server.plain())


def no_right_on_column(server):
    server.admin.cursor().execute("CREATE TABLE c (a INT, b INT)")
    server.admin.cursor().execute(f"REVOKE ALL ON {server.db.name}.* FROM '{server.user}'@'%'")
    server.grant("SELECT (a)", "c")
    return server.run("SELECT b FROM c", connection=server.plain())


def no_right_on_database(server):
    return connecting(server, server.user, database="mysql")


def no_table(server):
    return server.run("SELECT * FROM nowhere")


def no_column(server):
    return server.run("SELECT nothing FROM t")


def no_database(server):
    return connecting(server, server.db.user, server.db.password, database="nowhere")


def none_selected(server):
    return server.run("SELECT * FROM t", connection=server.session(database=None))


def wrong_password(server):
    return connecting(server, server.user, "wrong")


def connecting(server, user, password="plain", **options):
    try:
        server.session(user, password, **options)
    except pymysql.MySQLError as error:
        return error.args[0]
    return None


def too_long(server):
    return server.run("INSERT INTO t (id, name) VALUES (3, 'three')")


def out_of_range(server):
    return server.run("INSERT INTO t (id, name, small) VALUES (3, 'x', 1000)")


def not_of_the_enum(server):
    return server.run("INSERT INTO t (id, name, kind) VALUES (3, 'x', 'b')")


def no_number(server):
    return server.run("INSERT INTO t (id, name) VALUES ('x', 'x')")


def no_time(server):
    return server.run("INSERT INTO t (id, name, at) VALUES (3, 'x', '2026-02-30 00:00:00')")


def no_utf8(server):
    return server.run("INSERT INTO t (id, name) VALUES (3, _utf8mb4 X'FF')")


def missing_value(server):
    return server.run("INSERT INTO t (id, name) VALUES (3, NULL)")


def against_a_check(server):
    return server.run("INSERT INTO t (id, name, small) VALUES (3, 'x', -1)")


def read_only(server):
    with server.variable("read_only", 1):
        return server.run("INSERT INTO t (id, name) VALUES (3, 'x')", connection=server.plain())


def read_only_transaction(server):
    return server.run("START TRANSACTION READ ONLY", "INSERT INTO t (id, name) VALUES (3, 'x')")


def too_many_connections(server):
    with server.variable("max_connections", 10):
        for _ in range(40):
            code = connecting(server, server.user)
            if code is not None:
                return code


def too_many_of_a_user(server):
    if server.db.server.name == "mariadb":  # lets nobody limit that while it runs, and says so with 1290
        return server.run("SET GLOBAL max_user_connections = 2")
    with server.variable("max_user_connections", 2):
        for _ in range(5):
            code = connecting(server, server.user)
            if code is not None:
                return code


def limit_of_a_user(server):
    server.admin.cursor().execute(f"ALTER USER '{server.user}'@'%' WITH MAX_USER_CONNECTIONS 1")
    return connecting(server, server.user) or connecting(server, server.user)


def table_full(server):
    return server.run("SET max_heap_table_size = 16384", "CREATE TABLE m (a CHAR(255)) ENGINE=MEMORY",
                      *["INSERT INTO m SELECT REPEAT('x', 200) FROM information_schema.COLLATIONS"] * 20)


LONG = "SELECT COUNT(*) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b," \
       " information_schema.COLLATIONS c, information_schema.COLLATIONS d"


def takes_too_long(server):
    limit = "max_statement_time = 0.05" if server.db.server.name == "mariadb" else "max_execution_time = 50"
    return server.run(f"SET SESSION {limit}", LONG)


def while_running(server, statement, hurt):
    """hurt(thread id) while the statement runs in a session of its own; the code that this gets."""
    connection, codes = server.session(), []
    running = threading.Thread(target=lambda: codes.append(server.run(statement, connection=connection)))
    running.start()
    number = connection.thread_id()

    def runs():
        with server.admin.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM information_schema.PROCESSLIST"
                           f" WHERE ID = {number} AND COMMAND <> 'Sleep' AND INFO LIKE 'SELECT%'")
            return cursor.fetchone()[0] == 1

    wait_until(runs, "the statement runs", 10)
    hurt(number)
    running.join(20)
    return codes[0]


def interrupted(server):
    return while_running(server, LONG, lambda number: server.admin.cursor().execute(f"KILL QUERY {number}"))


def killed(server):
    return while_running(server, LONG, lambda number: server.admin.cursor().execute(f"KILL {number}"))


def idle_too_long(server):
    connection = server.session()
    assert server.run("SET SESSION wait_timeout = 1", connection=connection) is None
    cursor = server.admin.cursor()

    def ended():
        cursor.execute("SELECT COUNT(*) FROM information_schema.processlist WHERE id = %s", (connection.thread_id(),))
        return cursor.fetchone()[0] == 0
    wait_until(ended, "the server ends the idle session")
    return server.run("SELECT 1", connection=connection)


def sum_out_of_range(server):
    return server.run("SELECT 9223372036854775807 + 1")


def no_privilege(server):
    return server.run("SET GLOBAL max_connections = 100", connection=server.plain())


def view_without_table(server):
    return server.run("CREATE TABLE gone (a INT)", "CREATE VIEW v AS SELECT a FROM gone", "DROP TABLE gone",
                      "SELECT * FROM v")


def not_supported(server):
    return server.run("SELECT * FROM t WHERE id IN (SELECT id FROM t LIMIT 1)")


def no_sql(server):
    return server.run("SELEC 1")


def nobody_there(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return connecting(server, server.user, port=taken.getsockname()[1])


# what happens -> the codes that it may have, MySQL's and MariaDB's
PROVOKED = {
    same_key: {1062}, lock_wait: {1205}, deadlock: {1213}, nowait: {3572, 1205}, no_right_on_table: {1142},
    no_right_on_column: {1143}, no_right_on_database: {1044}, no_table: {1146}, no_column: {1054}, no_database: {1049},
    none_selected: {1046}, wrong_password: {1045}, too_long: {1406}, out_of_range: {1264}, not_of_the_enum: {1265},
    no_number: {1366}, no_time: {1292}, no_utf8: {1366, 1300}, missing_value: {1048}, against_a_check: {3819, 4025},
    read_only: {1290}, read_only_transaction: {1792}, too_many_connections: {1040}, too_many_of_a_user: {1203, 1290},
    limit_of_a_user: {1226}, table_full: {1114}, takes_too_long: {3024, 1969}, interrupted: {1317},
    killed: {2013, 2006, 1927}, idle_too_long: {4031, 2006, 2013}, sum_out_of_range: {1690}, no_privilege: {1227},
    view_without_table: {1356}, not_supported: {1235}, no_sql: {1064}, nobody_there: {2003},
}


@pytest.mark.both_databases
@pytest.mark.parametrize("provoke", PROVOKED, ids=lambda provoke: provoke.__name__)
def test_what_a_server_answers_stands_in_the_table_as_the_design_has_it(provoke, server, table):
    code = provoke(server)
    assert code in PROVOKED[provoke]
    row = table["mysql", code]
    assert row["class"] == DESIGN[code]
    assert row["meaning"]
    if code in CONNECTING:
        assert row["while_connecting"] == "SYSTEMIC"


def test_a_lost_connection_leaves_open_whether_commit_took_place(table):
    for code in (2006, 2013, 1317, 1053, 1180):
        assert table["mysql", code]["at_commit"] == "UNCERTAIN"
    for code in (1213, 1205, 1062):
        assert table["mysql", code]["at_commit"] == table["mysql", code]["class"]


def test_what_nobody_knows_is_never_the_records_fault(table):
    others = {key: row for key, row in table.items() if row["name"] == "any other"}
    assert {source: row["class"] for (source, _), row in others.items()} == {"mysql": "BUG", "kafka": "SYSTEMIC"}


def sent(kafka, topic, value=b"x", key=None, **properties):
    """The code that a message to the topic gets."""
    codes = []
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "acks": "all", "log_level": 0,
                         "message.timeout.ms": 4000, "topic.metadata.propagation.max.ms": 500,
                         "allow.auto.create.topics": False, **properties})
    try:
        producer.produce(topic, value, key, on_delivery=lambda error, _: codes.append(error.code() if error else 0))
        producer.flush(15)
    except Exception as error:  # noqa: B902  produce() raises a KafkaException of the code
        return error.args[0].code()
    return codes[0]


BROKER = {
    "no_topic": (lambda kafka: sent(kafka, "t-" + uuid.uuid4().hex),
                 {KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART}, "SYSTEMIC"),
    "no_name": (lambda kafka: sent(kafka, "a topic"), {KafkaError.TOPIC_EXCEPTION, KafkaError._UNKNOWN_TOPIC},
                "SYSTEMIC"),
    "too_large": (lambda kafka: sent(kafka, kafka.topic(config={"max.message.bytes": "1000"}), b"x" * 2000),
                  {KafkaError.MSG_SIZE_TOO_LARGE}, "RECORD"),
    "compacted_without_key": (lambda kafka: sent(kafka, kafka.topic(config={"cleanup.policy": "compact"})),
                              {KafkaError.INVALID_RECORD}, "SYSTEMIC"),
    "nobody_there": (lambda kafka: sent(kafka, "t", **{"bootstrap.servers": "127.0.0.1:1"}),
                     {KafkaError._MSG_TIMED_OUT}, "TRANSIENT"),
}


@pytest.mark.parametrize("case", BROKER)
def test_what_the_broker_answers_stands_in_the_table_as_the_design_has_it(case, kafka, table, db):
    provoke, codes, kind = BROKER[case]
    code = provoke(kafka)
    assert code in codes
    assert table["kafka", code]["class"] == kind

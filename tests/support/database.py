"""A database of a test's own on one of the real servers."""
import pathlib
import uuid

from . import databases

INVARIANTS = pathlib.Path(__file__).parent.parent / "invariants.sql"


def statements(text):
    """The statements of a file; comments go, so that a `;` in one splits nothing."""
    lines = (line.partition("-- ")[0] for line in text.splitlines() if not line.startswith("--"))
    return [one.strip() for one in "\n".join(lines).split(";") if one.strip()]


class Database:
    """name, host, port, user, password; server: the Server object (stop, start, freeze …)."""

    def __init__(self, server):
        self.server = server
        self.name = f"t_{uuid.uuid4().hex[:12]}"
        self.host, self.port, self.user, self.password = server.host, server.port, server.user, server.password
        self._connection = None
        with databases.connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {self.name}")

    @property
    def kind(self):
        """"mysql" or "mariadb"."""
        return self.server.name

    def connect(self, **options):
        """A connection of the test's own, for transactions and locks (autocommit unless told otherwise)."""
        return databases.connect(self.server, database=self.name, **options)

    def _cursor(self, sql, args):
        # Tests stop and start the server, so a connection is worth only as long as it answers.
        if self._connection is None or not self._connection.open:
            self._connection = self.connect()
        self._connection.ping(reconnect=True)
        cursor = self._connection.cursor()
        cursor.execute(sql, args or None)
        return cursor

    def rows(self, sql, *args):
        """The rows as a list of tuples. args stand for %s."""
        return list(self._cursor(sql, args).fetchall())

    def value(self, sql, *args):
        """The only column of the only row; None if there is no row."""
        rows = self.rows(sql, *args)
        assert len(rows) <= 1, f"{len(rows)} rows: {sql}"
        return rows[0][0] if rows else None

    def execute(self, sql, *args):
        """Affected rows."""
        return self._cursor(sql, args).rowcount

    def tables(self):
        return {name for name, in self.rows("SELECT table_name FROM information_schema.tables"
                                            " WHERE table_schema = %s", self.name)}

    def violations(self):
        """What tests/invariants.sql finds: a text for each statement that returned rows."""
        if not INVARIANTS.exists() or "outcome" not in self.tables():
            return []
        found = []
        # After a crash MariaDB's statistics say that the tables are empty, and it would scan them for each row.
        self.rows("ANALYZE TABLE claim, outcome, entry, account, balance, payment_order, outbox, review, parked")
        for statement in statements(INVARIANTS.read_text()):
            rows = self.rows(statement)
            if rows:
                found.append(f"{statement}\n  returned {len(rows)} rows: {rows[:5]}")
        return found

    def drop(self):
        with databases.connect(self.server) as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {self.name}")
        if self._connection is not None and self._connection.open:
            self._connection.close()

"""src/mysql on real servers: every case of the C tests, on both databases, each with a database of its own."""
import os
import pathlib
import re
import subprocess

import pytest

from support.database import Database
from support.proxy import Proxy
from support.worker import BINARY

HERE = pathlib.Path(__file__).parent
BINARIES = BINARY.parent / "tests" / "integration"
TIMEOUT_S = 90
CASES = [(source.stem, case) for source in sorted(HERE.glob("test_mysql_*.c"))
         for case in re.findall(r"^START_TEST\((\w+)\)", source.read_text(), re.MULTILINE)]
# Where the proxy strikes. The other cases talk to the server itself.
TRAPS = {
    "a_commit_whose_reply_is_lost_is_uncertain_and_took_place": lambda proxy: proxy.drop_reply("^COMMIT"),
    "a_commit_that_is_lost_is_uncertain_and_did_not_take_place": lambda proxy: proxy.drop_query("^COMMIT"),
    "a_lost_reply_outside_a_transaction_is_transient": lambda proxy: proxy.drop_reply("^INSERT"),
    "a_begin_that_is_lost_is_sent_again": lambda proxy: proxy.drop_reply("^BEGIN"),
    "a_connection_lost_while_its_session_is_set_is_transient": lambda proxy: proxy.drop_query("^SET NAMES"),
}
GLOBALS = ["read_only", "max_prepared_stmt_count", "innodb_flush_log_at_trx_commit", "sync_binlog"]


@pytest.fixture
def database(database_server):
    """Without tests/invariants.sql: its tables are not there."""
    own = Database(database_server)
    before = {name: own.value(f"SELECT @@GLOBAL.{name}") for name in GLOBALS}
    yield own
    if own.kind == "mysql":
        own.execute("SET GLOBAL super_read_only = 0")
    for name, value in before.items():
        own.execute(f"SET GLOBAL {name} = %s", value)
    own.execute(f"DROP USER IF EXISTS {own.name}")
    own.drop()


@pytest.mark.both_databases
@pytest.mark.parametrize("binary,case", CASES, ids=[case for _, case in CASES])
def test_mysql_layer(binary, case, database, tmp_path):
    program = BINARIES / binary
    assert program.exists(), f"{program} is not built"
    with Proxy(database.host, database.port) as proxy:
        trap = TRAPS[case](proxy) if case in TRAPS else None
        environment = {
            "CK_RUN_CASE": case, "TMPDIR": str(tmp_path), "POSTONCE_TEST_DATABASE": database.name,
            "POSTONCE_TEST_MYSQL_HOST": database.host, "POSTONCE_TEST_MYSQL_PORT": str(database.port),
            "POSTONCE_TEST_MYSQL_USER": database.user, "POSTONCE_TEST_MYSQL_PASSWORD": database.password,
            "POSTONCE_TEST_PROXY_PORT": str(proxy.port)}
        done = subprocess.run([program], env={**os.environ, **environment}, timeout=TIMEOUT_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0 and "100%: Checks: 1," in done.stdout, done.stdout
        assert trap is None or trap.struck.is_set(), "the proxy had nothing to strike"

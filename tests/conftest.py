"""Fixtures of the integration and fault tests. Each test gets a fresh world: topics and a database of its own.

    services   the running servers (support.servers.Services)
    kafka      support.topics.Kafka
    db         support.database.Database on the primary server; on each in turn for tests marked both_databases
    postonce   support.worker.Postonce on both; @pytest.mark.partitions(n) sets its topic's partitions (4)
    proxy      support.proxy.Proxy before the server of db
"""
import os

import pytest

from support import wait
from support.database import Database
from support.proxy import Proxy
from support.servers import STATE_VARIABLE, Services
from support.topics import Kafka
from support.worker import Postonce

NO_SERVERS = "no servers: run this as tests/with-services /usr/bin/python3 -m pytest tests/integration"


def running():
    return Services.load() if os.environ.get(STATE_VARIABLE) else None


@pytest.fixture(scope="session")
def services():
    found = running()
    if found is None:
        pytest.fail(NO_SERVERS, pytrace=False)
    return found


def pytest_generate_tests(metafunc):
    if "database_server" not in metafunc.fixturenames:
        return
    names = [None]
    found = running()
    if found and metafunc.definition.get_closest_marker("both_databases"):
        names = [server.name for server in found.databases]
        names += [pytest.param(name, marks=pytest.mark.skip(reason=f"{name}: {reason}"))
                  for name, reason in found.skipped.items()]
    metafunc.parametrize("database_server", names, indirect=True,
                         ids=None if names != [None] else ["primary"])


@pytest.fixture
def database_server(request, services):
    server = services.database(request.param)
    yield server
    server.ensure_running()


@pytest.fixture
def kafka(services):
    if not services.kafka:
        pytest.fail("no Kafka: with-services was started with --no-kafka", pytrace=False)
    client = Kafka(",".join(f"{server.host}:{server.port}" for server in services.kafka), services.kafka)
    yield client
    for server in services.kafka:
        server.ensure_running()
    client.delete_all()


@pytest.fixture
def db(database_server):
    database = Database(database_server)
    yield database
    database_server.ensure_running()
    try:
        violations = database.violations()
    finally:
        database.drop()
    if violations:
        pytest.fail("tests/invariants.sql:\n" + "\n".join(violations), pytrace=False)


@pytest.fixture
def proxy(db):
    with Proxy(db.host, db.port) as running_proxy:
        yield running_proxy


@pytest.fixture
def postonce(request, tmp_path, kafka, db):
    marker = request.node.get_closest_marker("partitions")
    program = Postonce(tmp_path, kafka, db, partitions=marker.args[0] if marker else 4)
    yield program
    program.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Puts the workers' last words under a failure, whatever failed."""
    outcome = yield
    report = outcome.get_result()
    program = getattr(item, "funcargs", {}).get("postonce")
    if report.when == "call" and report.failed and program:
        for log in program.logs():
            report.sections.append((f"log of {log.stem}", wait.tail(log)))

"""The main job over TLS to a database of its own, with the server verified; and what is wrong with it is told."""
import contextlib
import json
import shutil

import books
import pytest
from support import databases
from support.certificates import Authority
from support.worker import notification

CONFIGURATION = 78
PREPARE = {"mysql": databases.prepare_mysql, "mariadb": databases.prepare_mariadb}


class Secured:
    """A server whose certificate is for `localhost`, by the authority `ours`."""

    def __init__(self, kind, directory):
        self.ours, self.another = Authority(directory, "ours"), Authority(directory, "another")
        certificate, key = self.ours.certify("server", "DNS:localhost")
        preparation = PREPARE[kind](directory, lambda: None)
        self.home, self.server = preparation.home, preparation.server
        for path in (self.ours.ca, certificate, key):
            shutil.copy(path, self.home)
        inside = next(one.partition("=")[2] for one in preparation.common if one.startswith("--datadir="))
        inside = inside.removesuffix("/data")
        self.server.facts["argv"] += [f"--ssl-ca={inside}/{self.ours.ca.name}", f"--ssl-cert={inside}/{certificate.name}",
                                      f"--ssl-key={inside}/{key.name}"]
        preparation.initialized()
        self.server.launch(extra=preparation.first_start, bound_to_parent=True)
        self.server.wait_ready()

    def close(self):
        self.server.kill()
        shutil.rmtree(self.home, ignore_errors=True)


@pytest.fixture(scope="module")
def all_secured(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        found = {}

        def secured(kind):
            if kind not in found:
                found[kind] = Secured(kind, tmp_path_factory.mktemp(f"secured-{kind}"))
                stack.callback(found[kind].close)
            return found[kind]
        yield secured


@pytest.fixture
def database_server(request, services, all_secured):
    return all_secured(request.param or services.databases[0].name).server


@pytest.fixture
def world(ledger, db, all_secured):
    """The ledger, with a login that the server takes over TLS only."""
    secured = all_secured(db.server.name)
    db.execute(f"DROP USER IF EXISTS '{db.name}'@'%%'")
    db.execute(f"CREATE USER '{db.name}'@'%%' IDENTIFIED BY 'Secret-1-{db.name}' REQUIRE SSL")
    db.execute(f"GRANT ALL ON {db.name}.* TO '{db.name}'@'%%'")
    password = ledger.directory / "password-tls"
    password.write_text(f"Secret-1-{db.name}")
    password.chmod(0o600)
    ledger.configure({"mysql": {"host": "localhost", "user": db.name, "password_file": str(password),
                                "tls": {"ca": str(secured.ours.ca)}}})
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    return ledger, secured


def database_finding(ledger):
    rows = json.loads(ledger.run("check", "-o", "json", check=False).stdout)["findings"]
    return next(row for row in rows if row["area"] == "database")


@pytest.mark.both_databases
def test_the_main_job_runs_over_tls_with_the_server_verified(world, db):
    ledger, _ = world
    assert database_finding(ledger)["state"] == "ok"
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 1}


WRONG = {
    "ca": lambda secured: {"tls": {"ca": str(secured.another.ca)}},
    "name": lambda secured: {"host": "127.0.0.1"},
    "no-tls": lambda secured: {"tls": None},
}


@pytest.mark.both_databases
@pytest.mark.parametrize("what", WRONG)
def test_a_server_that_cannot_be_verified_is_not_talked_to_and_costs_nothing(world, db, what):
    ledger, secured = world
    right = ledger.config["mysql"]
    ledger.configure({"mysql": WRONG[what](secured)})
    finding = database_finding(ledger)
    assert finding["state"] == "error" and "Secret-1" not in finding["finding"]
    place = "connect to 127.0.0.1" if what == "name" else "connect to localhost"
    assert place in finding["finding"], finding
    if what != "no-tls":
        assert "mysql.tls" in finding["finding"] + finding["mend"], finding
    worker = ledger.start()
    assert worker.wait() == CONFIGURATION
    assert place in worker.log_text() and books.count(db, "claim") == 0
    ledger.configure({"mysql": right})
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 1}

"""The main job over TLS, with and without a login, on a broker of its own; and what is wrong with either is told."""
import json
import signal

import books
import pytest
from pages import Pages
from support import broker, fetch
from support.certificates import Authority
from support.topics import Kafka
from support.worker import notification

USER, PASSWORD = "postonce_test", "right-Password-1"


class Secured:
    """A broker with a plain listener for the test, and the others for postonce."""

    def __init__(self, directory):
        self.ours, self.another = Authority(directory, "ours"), Authority(directory, "another")
        certificate, key = self.ours.certify("kafka", "IP:127.0.0.1")
        both = directory / "kafka-both.pem"
        both.write_text(key.read_text() + certificate.read_text())
        self.listeners = broker.Secure(both, USER, PASSWORD)
        servers, formats = broker.prepare(directory, fetch.kafka_jars(), 1, lambda: None, self.listeners)
        broker.formatted(servers, formats)
        self.server, = servers
        self.server.launch(bound_to_parent=True)
        self.server.wait_ready()

    def tls(self, ca=None):
        return {"bootstrap.servers": f"127.0.0.1:{self.listeners.ports['SSL']}", "security.protocol": "ssl",
                "ssl.ca.location": str(ca or self.ours.ca)}

    def login(self, password=PASSWORD, ca=None):
        return {**self.tls(ca), "bootstrap.servers": f"127.0.0.1:{self.listeners.ports['SASL_SSL']}",
                "security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN", "sasl.username": USER,
                "sasl.password": password}


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    found = Secured(tmp_path_factory.mktemp("secured"))
    yield found
    found.server.kill()


@pytest.fixture
def kafka(secured):
    client = Kafka(f"127.0.0.1:{secured.server.port}", [secured.server])
    yield client
    client.delete_all()


def checked(ledger):
    return {row["area"]: row for row in json.loads(ledger.run("check", "-o", "json", check=False).stdout)["findings"]}


def work(ledger, db, first):
    """Two payments and something for the dead letters: what the consumer and the producer have to do."""
    books.register(db, f"R{first}", f"R{first + 1}")
    ledger.publish(notification(f"T{first}", f"R{first}"), b"{ garbage", notification(f"T{first + 1}", f"R{first + 1}"))


@pytest.mark.parametrize("way", ["tls", "login"])
def test_the_main_job_runs_over_it(ledger, db, secured, way):
    ledger.configure({"kafka": getattr(secured, way)()})
    found = checked(ledger)
    assert "broker" not in found and found["topics"]["state"] == "ok"
    work(ledger, db, 1)
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 2} and len(ledger.dead_letters()) == 1
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0
    assert PASSWORD not in ledger.workers[0].log_text()


WRONG = {
    "ca": (lambda secured: secured.login(ca=secured.another.ca), "ssl.ca.location"),
    "password": (lambda secured: secured.login(password="wrong-Password-2"), "sasl.password"),
    "plain-client": (lambda secured: {**secured.tls(), "security.protocol": "plaintext"}, "security.protocol"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_it_is_told_with_its_mend_and_costs_nothing(ledger, db, secured, what):
    wrong, place = WRONG[what]
    pages = Pages()
    ledger.configure({"kafka": {**wrong(secured), "reconnect.backoff.max.ms": 200}})
    work(ledger, db, 1)
    found = checked(ledger)
    assert found["broker"]["state"] == "error"
    assert place in found["broker"]["finding"] + found["broker"]["mend"], found["broker"]
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(lambda: place in worker.log_text(), "the log names the place", 60)
    assert pages.is_red() and books.count(db, "claim") == 0
    worker.process.send_signal(signal.SIGTERM)
    assert worker.wait() in (0, 75, 78)
    assert "wrong-Password" not in worker.log_text()
    ledger.configure({"kafka": {**secured.login(), "reconnect.backoff.max.ms": None}})
    assert ledger.drain() == [0]
    assert books.statuses(db) == {"PAID": 2} and len(ledger.dead_letters()) == 1



"""postonce run as its operators meet it: no file, a wrong file, its ends, its pages, an unsafe or absent server."""
import json
import os
import re
import signal
import subprocess
import time

import books
import pytest
from confluent_kafka import Producer
from pages import Pages
from support import config as configuration
from support.servers import free_port
from support.worker import BINARY, notification
from variables import server_wide

DONE, UNDRAINED, CONFIGURATION = 0, 75, 78


def type_in(directory, *args, **environment):
    """The program in a folder of its own, as a person types it."""
    clean = {name: value for name, value in os.environ.items() if name != "POSTONCE_CONFIG"}
    return subprocess.run([str(BINARY), *args], cwd=directory, env={**clean, **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def printed_start(text):
    """The configuration that `run` prints where it finds none."""
    return text[text.index("kafka:"):]


def test_run_without_a_file_says_where_it_looked_and_prints_a_working_start(ledger, db, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    done = type_in(home, "run")
    assert done.returncode == CONFIGURATION and done.stdout == ""
    for place in ("--config", "$POSTONCE_CONFIG", "./postonce.yaml", "/etc/postonce/postonce.yaml"):
        assert place in done.stderr
    start = printed_start(done.stderr)
    # Only what is this test's own is put in: the rest must work as printed.
    for ours, theirs in {"127.0.0.1:9092": f"{ledger.kafka.bootstrap}\n  fetch.wait.max.ms: 20",
                         "group.id: postonce": f"group.id: {ledger.group}", "callbacks": ledger.topic,
                         "/etc/postonce/db-password": str(ledger.directory / "password"),
                         "database: postonce": f"database: {db.name}\n  host: {db.host}\n  port: {db.port}"}.items():
        assert ours in start
        start = start.replace(ours, theirs)
    start += "channels: [wechat.yaml]\nhttp: { port: 0 }\n"
    (home / "postonce.yaml").write_text(start)
    (home / "wechat.yaml").write_text((configuration.ROOT / "tests/data/wechat-envelope.yaml").read_text())
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), b"garbage", partition=0)
    assert type_in(home, "run", "--until-end").returncode == DONE
    assert books.order(db, "R1").status == "PAID" and len(ledger.dead_letters()) == 1
    found = type_in(tmp_path, "order", "show", "R1", POSTONCE_CONFIG=str(home / "postonce.yaml"))
    assert found.returncode == DONE and "PAID" in found.stdout


@pytest.mark.parametrize("find,put,line_of,text", [
    (r"^batch:", "bacth:", "bacth:", "batch"),
    (r"^batch:", "batch: {}\nbatch:", "batch:\n", "batch"),
    (r"max_records: 500", "max_records: many", "max_records: many", "many"),
    (r"max_records: 500", "max_records: 0", "max_records: 0", "5000"),
    (r"otherwise: suspense", "otherwise: shrug", "otherwise: shrug", "suspense"),
    (r"amount: must_match", "amount: maybe", "amount: maybe", "must_match"),
    (r"  - PENDING_PAY\n      to: PAID", "  - PENDING_PAI\n      to: PAID", None, "PENDING_PAI"),
    (r"    outbox: ORDER_PAID", "    - debit: fees\n      amount: amount\n    outbox: ORDER_PAID", None, "unbalanced"),
    (r"merchant:\{tenant\}:payable", "merchant:{shop}:payable", None, "{shop}"),
    (r"^  group.id:", "  enable.auto.commit: 'true'\n  group.id:", "enable.auto.commit", "enable.auto.commit"),
    (r"^  group.id:", "  auto.offset.reset: latest\n  group.id:", "auto.offset.reset", "auto.offset.reset"),
    (r"^  group.id:", "  no.such.property: 1\n  group.id:", None, "no.such.property"),
    (r"^  group.id: .*\n", "", "bootstrap.servers:", "group.id"),
    (r"^  password_file: .*", "  password: ${env:NOT_SET_ANYWHERE}", "password:", "NOT_SET_ANYWHERE"),
    (r"^  first: 50ms", "  first: 50", "first: 50", "50"),
    (r"^  first: 50ms", "  first: 2s", None, "first"),
    (r"^batch:", "batch: [", None, ""),
], ids=["unknown_member", "member_twice", "wrong_type", "out_of_range", "unknown_word", "amount_word", "state",
        "unbalanced", "template", "auto_commit", "offset_reset", "property", "no_group", "unset_variable",
        "no_unit", "first_over_most", "no_yaml"])
def test_a_wrong_configuration_is_refused_with_file_line_and_column(postonce, db, find, put, line_of, text):
    postonce.configure({"orders": {"amount": "must_match"}})
    good = postonce.config_file.read_text()
    wrong, found = re.subn(find, put.replace("\\", "\\\\"), good, count=1, flags=re.MULTILINE)
    assert found == 1, good
    postonce.config_file.write_text(wrong)
    done = postonce.run("run", check=False)
    assert done.returncode == CONFIGURATION, done.stderr
    place = re.match(rf"postonce: {re.escape(str(postonce.config_file))}:(\d+):(\d+): ", done.stderr)
    assert place and text in done.stderr, done.stderr
    if line_of:
        assert line_of in wrong.splitlines(keepends=True)[int(place[1]) - 1], done.stderr
    assert db.password not in done.stderr


def test_a_configuration_without_topics_or_events_is_refused(postonce):
    for section in ("topics", "events", "kafka", "mysql"):
        config = configuration.write(postonce.directory / "part.yaml",
                                     configuration.merge(postonce.config, {section: None}))
        done = postonce.run("run", config=config, check=False)
        assert done.returncode == CONFIGURATION and section in done.stderr, done.stderr


def test_the_dead_letter_topic_may_not_be_one_that_is_taken_from(postonce):
    postonce.configure({"dead_letter": {"topic": postonce.topic}})
    done = postonce.run("run", check=False)
    assert done.returncode == CONFIGURATION and "for ever" in done.stderr


def test_a_group_without_offsets_begins_at_the_beginning(postonce, db):
    postonce.migrate()
    books.register(db, "R1", "R2")
    postonce.publish(notification("T1", "R1"), partition=0)
    postonce.publish(notification("T2", "R2"), partition=3)
    assert set(postonce.kafka.committed(postonce.group, postonce.topic).values()) == {None}
    assert postonce.drain() == [DONE]
    assert books.statuses(db) == {"PAID": 2}
    committed = postonce.kafka.committed(postonce.group, postonce.topic)
    assert (committed[0], committed[3]) == (1, 1) and postonce.kafka.lag(postonce.group, postonce.topic) == 0


def test_until_end_ends_with_0_when_everything_is_settled_and_75_at_a_hold(ledger, db):
    ledger.configure({"strict": {"hand_over": False}})
    books.register(db, "R1")
    assert ledger.drain() == [DONE]
    ledger.publish(notification("T1", "R1"), partition=0)
    assert ledger.drain() == [DONE]
    ledger.publish(notification("T2", "R2"), partition=1)
    assert ledger.drain() == [UNDRAINED]
    books.register(db, "R2")
    assert ledger.drain() == [DONE]
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0


def test_workers_that_drain_together_all_see_the_end(ledger, db):
    numbers = [f"R{n}" for n in range(400)]
    books.register(db, *numbers)
    for partition in range(4):
        ledger.publish(*[notification(f"T-{number}", number) for number in numbers[partition::4]],
                       partition=partition)
    assert ledger.drain(workers=3) == [DONE] * 3
    assert books.statuses(db) == {"PAID": 400}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_worker_told_to_stop_commits_and_ends_with_0(ledger, db, number):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    worker = ledger.start()
    ledger.wait_for(lambda: books.order(db, "R1").status == "PAID", "the payment is posted")
    worker.process.send_signal(number)
    assert worker.wait() == DONE
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 0
    assert "event=stopped code=0" in worker.log_text()


def test_a_worker_told_to_stop_in_mid_work_has_counted_nothing_twice(ledger, db):
    numbers = [f"R{n}" for n in range(1500)]
    books.register(db, *numbers)
    ledger.publish(*[notification(f"T-{number}", number) for number in numbers])
    worker = ledger.start(changes={"batch": {"max_records": 50}})
    ledger.wait_for(lambda: books.count(db, "outcome") >= 100, "100 outcomes")
    assert worker.stop() == DONE
    posted = books.count(db, "outcome")
    assert posted < 1500, "it was not in mid-work"
    assert ledger.kafka.lag(ledger.group, ledger.topic) == 1500 - posted
    assert ledger.drain() == [DONE]
    assert books.statuses(db) == {"PAID": 1500} and books.count(db, "outbox") == 1500
    assert db.value("SELECT MAX(deliveries) FROM claim") == 1


def test_a_worker_waits_for_a_database_that_is_away_and_can_be_stopped(ledger):
    worker = ledger.start(changes={"mysql": {"port": free_port()}})
    ledger.wait_for(lambda: worker.log_text().count("event=waiting_for_database") >= 2, "it waits")
    assert worker.stop() == DONE


def test_a_worker_that_the_database_refuses_ends_with_78(ledger):
    (ledger.directory / "wrong").write_text("not the password")
    worker = ledger.start(changes={"mysql": {"password_file": str(ledger.directory / "wrong")}})
    assert worker.wait() == CONFIGURATION
    assert "mysql.password" in worker.log_text() and "not the password" not in worker.log_text()


def test_the_pages_tell_life_readiness_and_figures(ledger, db):
    pages = Pages()
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1"), b"garbage", partition=0)
    worker = ledger.start(changes=pages.options)
    ledger.wait_for(pages.is_ready, "it is ready")
    ledger.wait_for(lambda: pages.figure("postonce_dead_letters_total") == 1, "the letter is counted")
    ledger.wait_for(lambda: pages.figure("postonce_lag_records") == 0, "no lag")
    figures = pages.figures()
    assert figures["postonce_records_total"] == 3 and figures["postonce_partitions_assigned"] == 4
    verdicts = {verdict: pages.verdicts(verdict)
                for verdict in ("POSTED", "DUPLICATE", "REJECTED", "HELD", "CONFLICT", "SKIPPED")}
    assert verdicts == {"POSTED": 1, "DUPLICATE": 1, "REJECTED": 1, "HELD": 0, "CONFLICT": 0, "SKIPPED": 0}
    assert figures["postonce_ready"] == 1
    assert pages.get("/healthz") == (200, "alive\n") and pages.get("/readyz") == (200, "ready\n")
    assert pages.get("/nothing")[0] == 404 and pages.get("/metrics", "DELETE")[0] == 405
    assert worker.stop() == DONE and pages.get("/healthz")[0] == 0


def test_alarms_are_counted_by_code(ledger, db):
    pages = Pages()
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"), notification("T1", "R1", amount_minor=1), partition=0)
    ledger.start(changes=pages.options)
    ledger.wait_for(lambda: pages.figure('postonce_alarms_total{code="PAYLOAD_CONFLICT"}') == 1, "the alarm")


def test_a_worker_without_its_topic_is_not_ready_until_it_is_there(ledger, db):
    pages = Pages()
    late = f"{ledger.topic}-late"
    books.register(db, "R1")
    worker = ledger.start(changes={**pages.options, "topics": {ledger.topic: None, late: {}}})
    ledger.wait_for(lambda: late in worker.log_text() and pages.is_red(), "it tells what is missing")
    assert pages.get("/healthz")[0] == 200
    ledger.kafka.topic(1, name=late)
    ledger.kafka.produce(late, json.dumps(notification("T1", "R1")).encode())
    ledger.wait_for(lambda: pages.is_ready() and books.order(db, "R1").status == "PAID", "it works again")
    assert worker.stop() == DONE


def check_refused(ledger, db, name):
    worker = ledger.start("--until-end")
    assert worker.wait() == CONFIGURATION
    assert name in worker.log_text() and "--accept-data-loss" in worker.log_text()
    assert books.count(db, "claim") == 0
    ledger.run("order", "show", "R1")  # only run asks


@pytest.mark.both_databases
def test_run_refuses_a_database_that_may_lose_commits(ledger, db):
    books.register(db, "R1")
    ledger.publish(notification("T1", "R1"))
    with server_wide(db, "innodb_flush_log_at_trx_commit", 2):
        check_refused(ledger, db, "innodb_flush_log_at_trx_commit")
        assert ledger.start("--until-end", "--accept-data-loss").wait() == DONE
    assert books.order(db, "R1").status == "PAID"


@pytest.mark.both_databases
def test_sync_binlog_is_asked_about_while_there_is_a_binary_log(ledger, db):
    books.register(db, "R1")
    with server_wide(db, "sync_binlog", 0):
        if db.value("SELECT @@GLOBAL.log_bin"):
            check_refused(ledger, db, "sync_binlog")
        else:
            assert ledger.drain() == [DONE]


def test_offsets_reach_the_ends_behind_transaction_markers(ledger, db):
    """A marker takes an offset that no record stands at; what was aborted is not posted."""
    books.register(db, "R1", "R2", "R3")
    producer = Producer({"bootstrap.servers": ledger.kafka.bootstrap, "transactional.id": f"tx-{ledger.topic}",
                         "log_level": 0})
    producer.init_transactions(20)
    for number, ends in (("1", True), ("2", False), ("3", True), ("2", False)):
        producer.begin_transaction()
        producer.produce(ledger.topic, json.dumps(notification(f"T{number}", f"R{number}")).encode(), partition=0)
        assert producer.flush(20) == 0
        producer.commit_transaction(20) if ends else producer.abort_transaction(20)
    ends = ledger.kafka.end_offsets(ledger.topic)
    assert ends[0] == 8, "four records and four markers"
    assert ledger.drain() == [DONE]
    assert ledger.kafka.committed(ledger.group, ledger.topic)[0] == 8
    assert set(books.outcomes(db)) == {books.key("T1"), books.key("T3")}
    assert books.order(db, "R2").status == "PENDING_PAY"


def test_a_topic_of_aborted_transactions_only_is_at_its_end(ledger):
    producer = Producer({"bootstrap.servers": ledger.kafka.bootstrap, "transactional.id": f"tx-{ledger.topic}",
                         "log_level": 0})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(ledger.topic, b"nothing", partition=2)
    assert producer.flush(20) == 0
    producer.abort_transaction(20)
    began = time.monotonic()
    assert ledger.drain() == [DONE]
    assert ledger.kafka.committed(ledger.group, ledger.topic)[2] == 2 and time.monotonic() - began < 30

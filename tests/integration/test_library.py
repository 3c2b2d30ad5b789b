"""libpostonce from an installed tree: its headers, its symbols, refunds registered and bodies decoded through it."""
import concurrent.futures
import re

import books
import pytest
import yaml
from installed import Installed, Program, run
from support.config import ROOT
from support.wait import wait_until

SHIPPED = ROOT / "deploy/postonce.yaml"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def register_program(installed):
    return installed.compile("register_refund")


@pytest.fixture
def register(installed, register_program, postonce, db, tmp_path):
    """register(number, amount, …) → (exit status, what it said), on an order R1 that was paid with 10.00 CNY."""
    postonce.migrate()
    books.register(db, "R1", status="SHIPPED", paid=("WECHAT", "T1", 1000))
    program = Program(installed, register_program, db, tmp_path)

    def call(number, amount, order="R1", currency="CNY", rules=SHIPPED):
        status, lines = program.run(rules, number, order, amount, currency)
        [line] = lines
        return status, line
    return call


def reserved(db):
    return db.value("SELECT refund_reserved FROM payment_order WHERE order_no = 'R1'")


@pytest.mark.parametrize("compiler,standard,language", [("gcc", "c11", "c"), ("clang", "c11", "c"),
                                                        ("g++", "c++17", "c++")])
def test_each_public_header_compiles_alone(installed, tmp_path, compiler, standard, language):
    headers = sorted(installed.headers.glob("*.h"))
    assert len(headers) == len(list((ROOT / "include/postonce").glob("*.h")))
    for header in headers:
        source = tmp_path / f"{header.stem}.{'cc' if language == 'c++' else 'c'}"
        source.write_text(f"#include <postonce/{header.name}>\n#include <postonce/{header.name}>\n")
        run(compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
            *installed.flags("--cflags"), source)


def test_only_what_the_headers_declare_is_exported(installed):
    text = "".join(header.read_text() for header in installed.headers.glob("*.h"))
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    declared = set(re.findall(r"\b(po_\w+)\(", code))
    told = run("nm", "-D", "--defined-only", installed.library)
    exported = {line.split()[-1].split("@")[0] for line in told.splitlines() if line.split()[-2] != "A"}
    assert exported == declared and len(exported) > 10


def test_the_library_has_a_version_and_needs_no_broker(installed):
    told = run("readelf", "-d", installed.library)
    assert "[libpostonce.so.0]" in told
    assert not re.search(r"NEEDED.*(rdkafka|microhttpd|smartcols)", told)


def test_a_refund_is_registered_once_and_never_beyond_what_was_paid(register, db):
    assert register("RF-1", 300) == (0, "ask the channel: RF-1, REGISTERED, reserved 300")
    assert register("RF-1", 300) == (0, "ask the channel: RF-1, REGISTERED before, reserved 300")
    for why, arguments in [("REFUND_EXCEEDS", ("RF-2", 701)), ("REFUND_DIFFERS", ("RF-1", 301)),
                           ("REFUND_DIFFERS", ("RF-2", 300, "R1", "USD")), ("ORDER_UNKNOWN", ("RF-2", 1, "R2")),
                           ("REFUND_MALFORMED", ("RF-2", 0)), ("REFUND_MALFORMED", (" RF-2", 1)),
                           ("REFUND_MALFORMED", ("RF-2", 1, "R1", "yen"))]:
        status, said = register(*arguments)
        assert status == 1 and said.startswith(f"do not ask the channel: RECORD {why}: "), said
    assert reserved(db) == 300
    assert register("RF-2", 700)[0] == 0
    assert db.rows("SELECT refund_no, amount, origin FROM refund ORDER BY refund_no") == [
        ("RF-1", 300, "REGISTERED"), ("RF-2", 700, "REGISTERED")]


def test_an_order_that_takes_no_refund_gets_none(register, db):
    books.register(db, "R3")
    assert register("RF-1", 300, "R3")[1].startswith("do not ask the channel: RECORD STATE_REFUSED")


def test_registrations_at_the_same_time_reserve_no_more_than_was_paid(register, db):
    """Each order of commits leaves room for three of 3.00; the row lock of the order is what they meet at."""
    with db.connect(autocommit=False) as holder, concurrent.futures.ThreadPoolExecutor(6) as pool:
        holder.cursor().execute("SELECT 1 FROM payment_order WHERE order_no = 'R1' FOR UPDATE")
        running = [pool.submit(register, f"RF-{i}", 300) for i in range(6)]
        waiting = ("SELECT COUNT(*) FROM information_schema.processlist WHERE db = %s AND info LIKE 'UPDATE %%'")
        wait_until(lambda: db.value(waiting, db.name) == 6, "all six wait for the order", 30)
        holder.rollback()
        results = [one.result() for one in running]
    assert sorted(status for status, _ in results) == [0, 0, 0, 1, 1, 1]
    assert all("REFUND_EXCEEDS" in said for status, said in results if status == 1)
    assert reserved(db) == 900 and db.value("SELECT COUNT(*) FROM refund") == 3


def test_what_nothing_can_rest_on_is_refused_before_anything_is_registered(register, db, tmp_path):
    no_refunds = tmp_path / "no-refunds.yaml"
    shipped = yaml.safe_load(SHIPPED.read_text())
    posts = {"post": shipped["events"]["PAYMENT_RECEIVED"]["post"]}
    no_refunds.write_text(yaml.safe_dump({"events": {"PAYMENT_RECEIVED": posts}}))
    assert "which orders take refunds" in register("RF-1", 1, rules=no_refunds)[1]
    assert "SYSTEMIC" in register("RF-1", 1, rules=tmp_path / "nowhere.yaml")[1]
    db.execute("UPDATE schema_version SET version = 999, oldest_worker = 999 ORDER BY version DESC LIMIT 1")
    status, said = register("RF-1", 1)
    assert status == 75 and "SYSTEMIC" in said, said
    assert reserved(db) == 0


def test_a_body_is_decoded_by_a_profile(installed):
    program = Program(installed, installed.compile("keys"))
    sqb, envelope = ROOT / "deploy/channels/sqb.yaml", ROOT / "deploy/channels/envelope.yaml"
    body = '{"channel":"ENVELOPE","txn":"T 1","event":"PAYMENT_RECEIVED","order_no":"R1","amount":"1.5","currency":"CNY"}'
    assert program.run(envelope, "-", input=body) == (0, ["ENVELOPE:T%201:PAYMENT_RECEIVED 150 CNY"])
    first = (ROOT / "deploy/sample/callbacks/first.sqb").read_text().splitlines()[0].partition("\t")[2]
    status, lines = program.run(sqb, "SQB", input=first)
    assert status == 0 and all(line.startswith("SQB:") for line in lines) and lines
    assert program.run(sqb, "ALIPAY", input=first)[1][0].startswith("RECORD UNKNOWN_CHANNEL")
    assert program.run(ROOT / "nothing.yaml", "SQB", input=first)[1][0].startswith("SYSTEMIC")

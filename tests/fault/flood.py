"""What the fault tests share: payments by the thousand, a look at what is in flight, the count afterwards."""
import collections
import itertools
import json
import os
import pathlib
import re
import urllib.error
import urllib.request

from support.wait import wait_until
from support.worker import notification

ROWS_A_STATEMENT = 2000
TRANSACTION = re.compile(r"---TRANSACTION \d+, ACTIVE(?:.*\n)+?(?:MySQL|MariaDB) thread id (\d+)")
SOCKET = re.compile(r"socket:\[(\d+)\]")


def payments(count, first=1):
    """Distinct notifications, each of an order of its own."""
    return [notification(f"T{n:06}", f"O{n:06}", 1000 + n) for n in range(first, first + count)]


def register(db, notifications):
    """The orders of these notifications, by the documented columns."""
    rows = [f"(1, '{one['order_no']}', {one['amount_minor']}, 'CNY', 'PENDING_PAY')" for one in notifications]
    for at in range(0, len(rows), ROWS_A_STATEMENT):
        db.execute("INSERT INTO payment_order (tenant_id, order_no, amount, currency, status) VALUES "
                   + ", ".join(rows[at:at + ROWS_A_STATEMENT]))


def in_other_words(payment):
    """The same event sent once more: other order of members, another time of sending."""
    again = dict(reversed(payment.items()))
    again["occurred_at"] = "2026-11-11T12:00:07+08:00"
    return again


def with_duplicates(notifications, every, distance):
    """Each `every`th comes again, `distance` records later; every other one of these in other words."""
    due, result = collections.defaultdict(list), []
    for place, one in enumerate(notifications):
        result.append(one)
        if place % every == 0:
            again = in_other_words(one) if place % (2 * every) == 0 else one
            due[min(place + distance, len(notifications) - 1)].append(again)
        result.extend(due.pop(place, ()))
    return result


def publish(postonce, notifications, partitions=4):
    """Spread over the partitions in turn."""
    return postonce.kafka.produce_many(postonce.topic, [
        {"value": json.dumps(one).encode() if isinstance(one, dict) else one, "partition": place % partitions}
        for place, one in enumerate(notifications)])


def outcomes(db):
    return db.value("SELECT COUNT(*) FROM outcome")


def unfinished(db):
    """Claims that nobody has settled yet."""
    return db.value("SELECT COUNT(*) FROM claim c LEFT JOIN outcome o ON o.claim_id = c.id WHERE o.claim_id IS NULL")


def lag(postonce):
    return postonce.kafka.lag(postonce.group, postonce.topic)


def wait_for_outcomes(postonce, count, timeout=60):
    """Until so many are there; returns how many there are."""
    return postonce.wait_for(lambda: (found := outcomes(postonce.db)) >= count and found, f"{count} outcomes", timeout)


def sockets(pid):
    """Local TCP ports of a process."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        found = SOCKET.match(os.readlink(entry))
        if found:
            inodes.add(found.group(1))
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(line[1].rpartition(":")[2], 16) for line in lines if line[9] in inodes}


def connections(db, worker):
    """{id: command} of the connections that this worker has to the database itself (not through a proxy)."""
    ports = sockets(worker.pid)
    return {row[0]: row[4] for row in db.rows("SHOW PROCESSLIST")
            if row[3] == db.name and ":" in row[2] and int(row[2].rpartition(":")[2]) in ports}


def open_transactions(db):
    """Ids of connections with a transaction open. Not from innodb_trx: that is a copy, old while it is polled."""
    return {int(found) for found in TRANSACTION.findall(db.rows("SHOW ENGINE INNODB STATUS")[0][2])}


def is_inside_transaction(db, worker):
    """Whether the server waits for this worker, which must be frozen, inside a transaction."""
    def answered():
        found = connections(db, worker)
        return found and all(command == "Sleep" for command in found.values()) and found
    idle = wait_until(answered, f"the statements of {worker.name} end")
    return bool(idle.keys() & open_transactions(db))


def freeze_inside_transaction(db, *workers):
    """SIGSTOP to the first of the workers that is met with a ledger transaction open; returns it."""
    turn = itertools.cycle(workers)

    def caught():
        worker = next(turn)
        assert worker.alive(), f"{worker.name} ended by itself"
        worker.freeze()
        if is_inside_transaction(db, worker):
            return worker
        worker.thaw()
        return None
    return wait_until(caught, "a worker is caught inside a transaction", 30, [worker.log for worker in workers])


def is_waiting_for_lock(db):
    """Whether any transaction waits for another's row."""
    return "TRX HAS BEEN WAITING" in db.rows("SHOW ENGINE INNODB STATUS")[0][2]


def has_struck(worker, point, action):
    return f"event=failpoint name={point} action={action}" in worker.log_text()


def wait_for_strike(postonce, worker, point, action, timeout=30):
    postonce.wait_for(lambda: has_struck(worker, point, action), f"{point}={action} strikes", timeout)


def page(port, path):
    """(status, text) of a worker's HTTP page; (0, why) when it does not answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()
    except OSError as error:
        return 0, str(error)


def metric(port, name):
    """Waits for the page: a worker that was just started serves it a moment later."""
    def metrics():
        status, text = page(port, "/metrics")
        return text if status == 200 else None

    found = re.search(rf"^{re.escape(name)} (-?\d+)$", wait_until(metrics, f"/metrics answers at port {port}"), re.M)
    assert found, f"no metric {name}"
    return int(found.group(1))


def counted(port, verdict):
    return metric(port, f'postonce_notifications_total{{verdict="{verdict}"}}')


def assert_posted_once(postonce, expected, reviews=0, dead_letters=0, left=0, groups=()):
    """Each notification of `expected` is posted, none twice, nothing else is; the offsets are at the ends.
    left: claims without outcome."""
    db, count = postonce.db, len(expected)
    assert db.rows("SELECT verdict, COUNT(*) FROM outcome GROUP BY verdict") == [("POSTED", count)]
    assert {key for key, in db.rows("SELECT c.idem_key FROM outcome o JOIN claim c ON c.id = o.claim_id")} \
        == {f"WECHAT:{one['txn']}:PAYMENT_RECEIVED" for one in expected}
    assert unfinished(db) == left
    paid = db.rows("SELECT order_no, paid_txn, paid_amount FROM payment_order WHERE status = 'PAID'")
    assert sorted(paid) == sorted((one["order_no"], one["txn"], one["amount_minor"]) for one in expected)
    lines, debits, total = db.rows("SELECT COUNT(*), SUM(GREATEST(amount, 0)), SUM(amount) FROM entry")[0]
    assert (lines, debits, total) == (2 * count, sum(one["amount_minor"] for one in expected), 0)
    assert db.value("SELECT COUNT(*) FROM outbox") == count
    assert db.value("SELECT COUNT(*) FROM review") == reviews
    assert db.value("SELECT COUNT(*) FROM dead_letter") == dead_letters
    letters = {dict(letter.headers)["postonce.letter_id"] for letter in postonce.dead_letters()}
    assert len(letters) == dead_letters
    for group in groups or [postonce.group]:
        wait_until(lambda: postonce.kafka.lag(group, postonce.topic) == 0, f"lag of {group} is 0", 20, postonce.logs())

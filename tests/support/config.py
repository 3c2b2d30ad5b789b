"""The configuration that tests run with: DESIGN's, on the test's own topic and database."""
import copy
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PAYMENT_RECEIVED = {
    "order": {"from": ["PENDING_PAY"], "to": "PAID", "already": ["PAID", "SHIPPED"]},
    "otherwise": "suspense",
    "post": [{"debit": "channel:{channel}:clearing", "credit": "merchant:{tenant}:payable", "amount": "amount"}],
    "outbox": "ORDER_PAID",
}


def build(bootstrap, group, topic, dead_letter_topic, database, password_file):
    """The configuration as a dict. database: anything with host, port, user and name."""
    return {
        # Short sessions: tests wait for a killed worker's partitions to move.
        "kafka": {"bootstrap.servers": bootstrap, "group.id": group, "session.timeout.ms": 3000,
                  "heartbeat.interval.ms": 500,
                  # A partition's end is told with the answer to a fetch: what --until-end waits for.
                  "fetch.wait.max.ms": 20},
        "topics": {topic: {}},
        "mysql": {"host": database.host, "port": database.port, "user": database.user,
                  "password_file": str(password_file), "database": database.name},
        "batch": {"max_records": 500},
        "dead_letter": {"topic": dead_letter_topic, "attempts": 5},
        "channels": [str(ROOT / "deploy/channels/sqb.yaml"), str(ROOT / "tests/data/wechat-envelope.yaml")],
        "orders": {"initial": "PENDING_PAY", "external": ["SHIPPED", "CLOSED"], "amount": "must_match"},
        "events": {"PAYMENT_RECEIVED": copy.deepcopy(PAYMENT_RECEIVED)},
        "retry": {"first": "50ms", "most": "1s"},
        "http": {"port": 0},  # any free one: workers of a test run side by side
    }


def merge(base, changes):
    """A copy of base with changes laid over it: maps are merged, a value of None removes the member."""
    result = dict(base)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict) and isinstance(result.get(name), dict):
            result[name] = merge(result[name], value)
        else:
            result[name] = value
    return result


def write(path, config):
    pathlib.Path(path).write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    return pathlib.Path(path)

"""Shapes of load: the plain one, and those that are hard on one place. Each publishes, drains and verifies."""
import collections
import random

from bench import drain, encode, message, messages, opened, padding, product_round, steady_rate

Shape = collections.namedtuple("Shape", "run world what")
ORDER = {"from": ["PENDING_PAY"], "to": "PAID", "already": ["PAID", "SHIPPED"]}
# What each notification costs: a claim, an outcome, two entries, the order's move, an outbox row.
WORLD = {"events": {"PAYMENT_RECEIVED": {"order": ORDER, "otherwise": "suspense", "outbox": "ORDER_PAID"}}}


def plain(world, count, workers):
    values, distinct = messages(count)
    return product_round(world, values, distinct, workers)


def warm_up(services, db, count, workers):
    """A round that is not counted: a server that has just started takes a fifth more for the first one."""
    with opened(services, db, **WORLD) as world:
        plain(world, count, workers)


def all_duplicates(world, count, workers):
    """Everything a second time; the rate is that of the second time."""
    values, distinct = messages(count, duplicates=0)
    first = product_round(world, values, distinct, workers)
    world.publish(values)
    figures = drain(world, workers, count)
    rate, _ = steady_rate(world, "claim", "last_seen_at")
    assert world.db.value("SELECT MIN(deliveries) FROM claim") == 2
    return {"rate": rate, "posting_rate": first["rate"], "times_posting": rate / first["rate"], **figures}


def one_order(world, count, workers):
    """Every payment names the same order: one pays it, the others stand in suspense."""
    text = padding(random.Random(1))
    values = [(number, encode(message(number, order_no="O00000000", amount_minor=1000), text))
              for number in range(count)]
    world.register([0])
    return product_round(world, values, count, workers, register=False)


def one_account(world, count, workers):
    """All of one merchant."""
    text = padding(random.Random(1))
    values = [(number, encode(message(number, channel="M00"), text)) for number in range(count)]
    return product_round(world, values, count, workers)


def garbage(world, count, workers):
    """One in a hundred is no JSON, and goes to the dead letters."""
    values, distinct = messages(count)
    for at in range(0, count, 100):
        values.insert(at, (at, b"no json"))
    return product_round(world, values, distinct, workers)


def early(world, count, workers):
    """The orders of a tenth are not there yet: parked, and posted after they are registered."""
    text = padding(random.Random(1))
    values = [(number, encode(message(number), text)) for number in range(count)]
    world.register([number for number in range(count) if number % 10])
    world.publish(values)
    figures = drain(world, workers, count)
    rate, settled = steady_rate(world)
    assert settled == count - len(range(0, count, 10))
    assert world.db.value("SELECT COUNT(*) FROM parked") == count - settled
    return {"rate": rate, **figures}


SHAPES = {
    "plain": Shape(plain, WORLD, "100 merchants, 5 % copies"),
    "all-duplicates": Shape(all_duplicates, WORLD, "everything a second time"),
    "one-order": Shape(one_order, WORLD, "every payment names one order"),
    "one-account": Shape(one_account, WORLD, "one merchant's account"),
    "one-partition": Shape(plain, {**WORLD, "partitions": 1}, "one partition, so one worker works"),
    "garbage": Shape(garbage, WORLD, "1 % is refused"),
    "early": Shape(early, WORLD, "10 % come before their order"),
}

"""A ledger as simple as it can be, written from the rules and not from postonce: one notification after the other,
in a known order, against dicts. What a pool of workers left in the database must equal it.

It knows the shipped machine (deploy/postonce.yaml): payments, refunds with and without registration, reversals.
"""
import collections
import dataclasses

POSTED, SKIPPED, SUSPENSE, PARKED, REJECTED = "POSTED", "SKIPPED", "SUSPENSE", "PARKED", "REJECTED"
PAYABLE = ("PENDING_PAY", "REVERSED")
PAID_ONCE = ("PAID", "SHIPPED", "PARTIALLY_REFUNDED", "REFUNDED")
REFUNDING = ("PARTIALLY_REFUNDED", "REFUNDED")


@dataclasses.dataclass
class Notification:
    """What one record says. amount in minor units; total: a running total instead of this movement's amount."""
    tenant: int
    channel: str
    txn: str
    event: str
    order_no: str
    amount: int = None
    currency: str = None
    refund_no: str = ""
    total: bool = False
    parent: str = ""            # the payment that it says it is of

    @property
    def key(self):
        return self.tenant, f"{self.channel}:{self.txn}:{self.event}"

    @property
    def refund_key(self):
        return self.tenant, self.refund_no or self.txn


@dataclasses.dataclass
class Order:
    tenant: int
    order_no: str
    amount: int
    currency: str
    status: str
    payment: tuple = None       # (channel, txn, amount) that paid it
    refunded: int = 0
    reserved: int = 0
    before_refunds: str = None


@dataclasses.dataclass
class Refund:
    order_no: str
    amount: int
    currency: str
    status: str
    reserved: int = 0
    txn: str = None
    posted: tuple = None        # key of the success that is booked


@dataclasses.dataclass
class Booking:
    verdict: str
    lines: list                 # [(account, amount)]
    notification: Notification
    reversed: bool = False


class Ledger:
    def __init__(self, orders):
        self.orders = {(order.tenant, order.order_no): order for order in orders}
        self.refunds, self.bookings = {}, {}

    def balances(self):
        """{(tenant, account, currency): amount}"""
        sums = collections.Counter()
        for booking in self.bookings.values():
            for account, amount, currency in booking.lines:
                sums[booking.notification.tenant, account, currency] += amount
        return dict(sums)

    def apply(self, notification):
        """Books it if it can be; its verdict. PARKED and REJECTED leave nothing behind."""
        assert notification.key not in self.bookings, f"{notification.key} is settled already"
        verdict, lines = getattr(self, "_" + notification.event.lower())(notification)
        if verdict not in (PARKED, REJECTED):
            self.bookings[notification.key] = Booking(verdict, lines, notification)
        return verdict

    # Money into the channel (+) belongs to the merchant (-), or to nobody yet.

    @staticmethod
    def _movement(notification, amount, suspense=False):
        clearing = f"channel:{notification.channel}:clearing"
        other = f"suspense:{notification.channel}" if suspense else f"merchant:{notification.tenant}:payable"
        return [(clearing, amount, notification.currency), (other, -amount, notification.currency)]

    def _to_suspense(self, notification, amount):
        return SUSPENSE, self._movement(notification, amount, suspense=True)

    def _order(self, notification):
        return self.orders.get((notification.tenant, notification.order_no))

    def _payment_received(self, notification):
        order, amount = self._order(notification), notification.amount
        if order is None:
            return PARKED, []
        mine = (notification.channel, notification.txn, amount)
        if order.status in PAID_ONCE:
            return (SKIPPED, []) if order.payment[:2] == mine[:2] else self._to_suspense(notification, amount)
        fits = (amount, notification.currency) == (order.amount, order.currency)
        if order.status not in PAYABLE or not fits:
            return self._to_suspense(notification, amount)
        order.status, order.payment = "PAID", mine
        return POSTED, self._movement(notification, amount)

    def _payment_reversed(self, notification):
        target = self.bookings.get((notification.tenant, f"{notification.channel}:{notification.txn}:PAYMENT_RECEIVED"))
        order = self._order(notification)
        if target is None:
            return PARKED, []
        if target.reversed or target.verdict == SKIPPED:
            return SKIPPED, []
        same = (target.notification.amount, target.notification.currency) == (notification.amount,
                                                                              notification.currency)
        negated = [(account, -amount, currency) for account, amount, currency in target.lines]
        if target.verdict == SUSPENSE:
            if not same:
                return self._to_suspense(notification, -notification.amount)
            target.reversed = True
            return POSTED, negated
        if order.status == "PENDING_PAY":
            return PARKED, []
        carried = order.payment is None or order.payment[:2] == (notification.channel, notification.txn)
        if not (same and carried) or order.status not in ("PAID", "SHIPPED") or order.refunded + order.reserved > 0:
            return self._to_suspense(notification, -notification.amount)
        target.reversed = True
        order.status, order.payment = "REVERSED", None
        return POSTED, negated

    def _refund_requested(self, notification):
        order, amount = self._order(notification), notification.amount
        known = self.refunds.get(notification.refund_key)
        if order is None:
            return PARKED, []
        if known:
            same = (known.order_no, known.amount, known.currency) == (notification.order_no, amount,
                                                                      notification.currency)
            return (SKIPPED if same else REJECTED), []
        if order.status == "PENDING_PAY":
            return PARKED, []
        if (notification.currency != order.currency or order.status not in ("PAID", "SHIPPED", "PARTIALLY_REFUNDED")
                or order.refunded + order.reserved + amount > self._paid(order)):
            return REJECTED, []
        order.reserved += amount
        self.refunds[notification.refund_key] = Refund(order.order_no, amount, order.currency, "REGISTERED", amount)
        return POSTED, []

    @staticmethod
    def _paid(order):
        return order.payment[2] if order.payment else 0

    def _refund_succeeded(self, notification):
        order, known = self._order(notification), self.refunds.get(notification.refund_key)
        if order is None or order.status == "PENDING_PAY":
            return PARKED, []
        # The money of a payment that did not pay the order goes back from where it stands.
        elsewhere = bool(order.payment and notification.parent
                         and order.payment[:2] != (notification.channel, notification.parent))
        booked = 0 if elsewhere else order.refunded
        said = max(0, notification.amount - booked) if notification.total else notification.amount
        misfit = self._to_suspense(notification, -said) if said else (SKIPPED, [])
        if known and known.status == "SUCCEEDED":
            return (SKIPPED, []) if known.txn == notification.txn else misfit
        if elsewhere or notification.currency != order.currency:
            return misfit
        if known and (known.order_no != order.order_no or not self._agrees(notification, known, order)):
            return misfit
        amount = known.amount if known else said
        if amount == 0:
            return SKIPPED, []
        others = order.reserved - (known.reserved if known else 0)
        if order.refunded + others + amount > self._paid(order) or order.status not in PAID_ONCE:
            return misfit
        known = known or self.refunds.setdefault(notification.refund_key,
                                                 Refund(order.order_no, amount, order.currency, "NOTICED"))
        order.refunded += amount
        order.reserved -= known.reserved
        known.status, known.reserved, known.txn, known.posted = "SUCCEEDED", 0, notification.txn, notification.key
        self._restate(order)
        return POSTED, self._movement(notification, -amount)

    def _agrees(self, notification, known, order):
        if notification.total:
            return known.amount <= notification.amount <= self._paid(order)
        return notification.amount == known.amount

    def _restate(self, order):
        if order.status not in REFUNDING:
            order.before_refunds = order.status
        if order.refunded == 0:
            order.status = order.before_refunds
        else:
            order.status = "REFUNDED" if order.refunded == self._paid(order) else "PARTIALLY_REFUNDED"

    def _out_of_suspense(self, notification):
        """(verdict, lines) where the success stands in suspense, else None."""
        success = self.bookings.get((notification.tenant, f"{notification.channel}:{notification.txn}:REFUND_SUCCEEDED"))
        if success is None or success.verdict != SUSPENSE:
            return None
        said = success.notification
        if success.reversed or (notification.amount, notification.currency) != (said.amount, said.currency):
            return SKIPPED, []
        success.reversed = True
        known, order = self.refunds.get(notification.refund_key), self._order(notification)
        if known and order and known.order_no == order.order_no and known.status == "REGISTERED":
            order.reserved -= known.reserved
            known.status, known.reserved = "FAILED", 0
        return POSTED, [(account, -amount, currency) for account, amount, currency in success.lines]

    def _refund_failed(self, notification):
        taken = self._out_of_suspense(notification)
        if taken:
            return taken
        known, order = self.refunds.get(notification.refund_key), self._order(notification)
        if known is None:
            return SKIPPED, []
        if (order is None or known.order_no != order.order_no
                or (notification.amount, notification.currency) != (known.amount, known.currency)):
            return (SKIPPED if known.posted else REJECTED), []
        if known.status == "FAILED":
            return SKIPPED, []
        if known.status == "REGISTERED":
            order.reserved -= known.reserved
            known.status, known.reserved = "FAILED", 0
            return POSTED, []
        return self._take_back(order, known)

    def _refund_reversed(self, notification):
        taken = self._out_of_suspense(notification)
        if taken:
            return taken
        known, order = self.refunds.get(notification.refund_key), self._order(notification)
        if known is None or known.status == "REGISTERED":
            return PARKED, []
        if known.status == "FAILED":
            return SKIPPED, []
        return self._take_back(order, known)

    def _take_back(self, order, known):
        success = self.bookings[known.posted]
        success.reversed = True
        order.refunded -= known.amount
        known.status, known.txn, known.posted = "FAILED", None, None
        if order.status in REFUNDING:
            self._restate(order)
        return POSTED, [(account, -amount, currency) for account, amount, currency in success.lines]

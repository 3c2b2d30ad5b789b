-- An order that a service of the shop inserted itself: it had asked WeChat, found the order paid,
-- booked the money in its own books and shipped. It says which movement of money that was.
INSERT INTO payment_order
  (tenant_id, order_no, amount, currency, status, paid_channel, paid_txn, paid_amount)
VALUES
  (1, 'W3-20260114-004406', 15000, 'CNY', 'SHIPPED', 'WECHAT', '42000020012026011404406', 15000);

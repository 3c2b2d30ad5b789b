"""A Produce request written byte by byte, for records that no client library would send."""
import socket
import struct
import time

PRODUCE, VERSION, ALL, TIMEOUT_MS = 0, 3, -1, 20000


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def varint(number):
    rest, out = (number << 1) ^ (number >> 63), b""
    while rest > 0x7f:
        out, rest = out + bytes([rest & 0x7f | 0x80]), rest >> 7
    return out + bytes([rest])


def counted(data):
    """With its length before it; None has the length -1."""
    return varint(-1) if data is None else varint(len(data)) + data


def text(name):
    return struct.pack(">h", len(name)) + name.encode()


def record(key, value, headers):
    """headers: (name, value) in bytes, whatever they are."""
    body = b"\0" + varint(0) + varint(0) + counted(key) + counted(value) + varint(len(headers))
    body += b"".join(counted(name) + counted(content) for name, content in headers)
    return varint(len(body)) + body


def batch(one):
    now_ms = int(time.time() * 1000)
    checked = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, -1, -1, -1, 1) + one
    rest = struct.pack(">ibI", -1, 2, crc32c(checked)) + checked
    return struct.pack(">qi", 0, len(rest)) + rest


def produce(bootstrap, topic, value, headers, partition=0, key=None):
    """One record to the broker at `bootstrap`, which must lead the partition; returns its offset."""
    data = batch(record(key, value, headers))
    request = struct.pack(">hhi", PRODUCE, VERSION, 1) + text("tests") + struct.pack(">hhi", -1, ALL, TIMEOUT_MS)
    request += struct.pack(">i", 1) + text(topic) + struct.pack(">iii", 1, partition, len(data)) + data
    host, _, port = bootstrap.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as broker:
        broker.sendall(struct.pack(">i", len(request)) + request)
        answer = broker.makefile("rb")
        size, = struct.unpack(">i", answer.read(4))
        found = answer.read(size)
    error, offset = struct.unpack_from(">hq", found, 4 + 4 + 2 + len(topic.encode()) + 4 + 4)
    assert error == 0, f"Produce: error {error}"
    return offset

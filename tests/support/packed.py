"""What src/base/record_pack.h writes, read by other code than its own."""
import struct

from .topics import Record

NULL = 0xffffffff


def unpack(packed):
    """(topic, Record) of a packed record; anything left over is a failure."""
    assert packed[:4] == b"POR1"
    headers_count, partition, offset, timestamp = struct.unpack_from(">Iiqq", packed, 4)
    at = 28

    def piece(text):
        nonlocal at
        length, = struct.unpack_from(">I", packed, at)
        at += 4
        if not text and length == NULL:
            return None
        found = packed[at:at + length]
        assert len(found) == length
        at += length
        if text:
            assert packed[at:at + 1] == b"\0"
            at += 1
            return found.decode()
        return found

    topic, key, value = piece(True), piece(False), piece(False)
    headers = [(piece(True), piece(False)) for _ in range(headers_count)]
    assert at == len(packed)
    return topic, Record(partition, offset, key, value, headers, timestamp)

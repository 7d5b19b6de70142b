"""Ways to damage a file. Each takes bytes, a source of random numbers and another file to take bytes from."""

import random
import re
import struct
from collections.abc import Callable

NUMBERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 2, 2**63 - 1, 2**63,
           2**64 - 1]
WORDS = [b"nan", b"inf", b"-0", b"1e999", b"-1", b"0x10", b"1e-400", b"\x1b[31m", b"\xc2\x9b2J", b"\xff\xfe", b"%n%s", b"'", b'"',
         b"\r", b"#", b"\xe2\x80\xae"]


def place(draw: random.Random, data: bytes) -> int:
    """Heads decide more than tails, so they are hit more often."""
    return min(int(len(data) * draw.random() ** draw.choice([1, 3])), len(data) - 1) if data else 0


def flip_bits(data: bytes, draw: random.Random, _: bytes) -> bytes:
    result = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        if result:
            result[place(draw, data)] ^= 1 << draw.randrange(8)
    return bytes(result)


def truncate(data: bytes, draw: random.Random, _: bytes) -> bytes:
    return data[:place(draw, data)]


def insert_bytes(data: bytes, draw: random.Random, _: bytes) -> bytes:
    at = place(draw, data)
    return data[:at] + draw.choice([draw.randbytes(draw.randrange(1, 9)), draw.choice(WORDS)]) + data[at:]


def remove_bytes(data: bytes, draw: random.Random, _: bytes) -> bytes:
    at = place(draw, data)
    return data[:at] + data[at + draw.randrange(1, 33):]


def replace_number(data: bytes, draw: random.Random, _: bytes) -> bytes:
    """A number of a text by one that is hard to hold."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return flip_bits(data, draw, data)
    at = found[min(int(len(found) * draw.random() ** 2), len(found) - 1)]
    new = draw.choice([str(draw.choice(NUMBERS)).encode(), b"9" * draw.choice([19, 20, 400]), draw.choice(WORDS)])
    return data[:at.start()] + new + data[at.end():]


def replace_field(data: bytes, draw: random.Random, _: bytes) -> bytes:
    """A field of a binary head by one that is hard to hold."""
    form = draw.choice(["<Q", "<I", "<H", ">Q"])
    width = struct.calcsize(form)
    at = place(draw, data) // 4 * 4
    return data[:at] + struct.pack(form, draw.choice(NUMBERS) % 256**width) + data[at + width:]


def repeat_line(data: bytes, draw: random.Random, _: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at = draw.randrange(len(lines))
    return b"".join(lines[:at] + [lines[at]] * draw.choice([2, 3, 1000]) + lines[at + 1:])


def swap_lines(data: bytes, draw: random.Random, _: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def splice(data: bytes, draw: random.Random, other: bytes) -> bytes:
    """The head of another file before this one's tail."""
    return other[:place(draw, other)] + data[place(draw, data):]


def change_line_ends(data: bytes, draw: random.Random, _: bytes) -> bytes:
    return data.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b"\0"]))


ALL: list[Callable[[bytes, random.Random, bytes], bytes]] = [
    flip_bits, flip_bits, truncate, insert_bytes, remove_bytes, replace_number, replace_number, replace_field, replace_field, repeat_line,
    swap_lines, splice, change_line_ends]


def checksum(data: bytes) -> int:
    """XXH64, the checksum of .ptb, so that damage gets past it."""
    p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    whole = 2**64 - 1

    def rotated(x: int, bits: int) -> int:
        x &= whole
        return (x << bits | x >> (64 - bits)) & whole

    def mixed(lane: int, word: int) -> int:
        return rotated(lane + word * p2, 31) * p1 & whole

    at, total = 0, p5
    if len(data) >= 32:
        lanes = [p1 + p2, p2, 0, -p1]
        at = len(data) // 32 * 32
        for words in struct.iter_unpack("<4Q", data[:at]):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, words)]
        total = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18)))
        for lane in lanes:
            total = (total ^ mixed(0, lane)) * p1 + p4 & whole
    total = total + len(data) & whole
    for at in range(at, len(data) - 7, 8):
        total = rotated(total ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4 & whole
    at = len(data) // 8 * 8
    if len(data) - at >= 4:
        total = rotated(total ^ struct.unpack_from("<I", data, at)[0] * p1 & whole, 23) * p2 + p3 & whole
        at += 4
    for byte in data[at:]:
        total = rotated(total ^ byte * p5 & whole, 11) * p1 & whole
    total = (total ^ total >> 33) * p2 & whole
    total = (total ^ total >> 29) * p3 & whole
    return total ^ total >> 32


def damage_ptb_head(data: bytes, draw: random.Random) -> bytes:
    """A field of the head of a .ptb, with a right checksum behind it."""
    order, nonzeros, per_chunk = struct.unpack_from("<3Q", data, 16)
    end = 64 + 16 * order + (order + 1) * -(-nonzeros // per_chunk) * 16 + 8
    head = bytearray(data[:end])
    at = draw.randrange(16, end // 8 * 8, 8)
    struct.pack_into("<Q", head, at, draw.choice([*NUMBERS, draw.randrange(2**16)]))
    return bytes(head) + struct.pack("<Q", checksum(bytes(head))) + data[end + 8:]


def mutate(name: str, data: bytes, draw: random.Random, other: bytes) -> bytes:
    if name.endswith(".ptb") and draw.random() < 0.5:
        return damage_ptb_head(data, draw)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        data = draw.choice(ALL)(data, draw, other)
    return data

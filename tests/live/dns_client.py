#!/usr/bin/env python3
"""Questions to DNS by hand. Usage: dns_client.py QUESTION... | dns_client.py PART

A question is HOW:NAME:TYPE[:OPTION]: HOW is udp or tcp, OPTION is edns. Each gets a line: the code, TC when cut, OPT when the
answer has that record, then what the answer's records say. For the parts see the functions that begin with part_.
"""
import os
import socket
import struct
import sys
import threading
import time

SERVER = (os.environ.get("DNS_CLIENT_SERVER", "192.0.2.53"), 53)
WAIT = float(os.environ.get("DNS_CLIENT_WAIT", "20"))
TYPES = {"A": 1, "CNAME": 5, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "OPT": 41, "HTTPS": 65, "ANY": 255}
CODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}


def pack(name, kind, number, option=""):
    labels = b"".join(bytes([len(x)]) + x.encode("latin-1") for x in name.split(".") if x)
    opt = b"\0" + struct.pack(">HHIH", TYPES["OPT"], 1232, 0, 0) if option == "edns" else b""
    head = struct.pack(">6H", number, 0x100, 1, 0, 0, 1 if opt else 0)
    return head + labels + b"\0" + struct.pack(">HH", TYPES[kind], 1) + opt


def name_at(msg, at):
    """The name and where it ends."""
    out, end = [], 0
    while msg[at]:
        if msg[at] >= 0xC0:
            end = end or at + 2
            at = struct.unpack(">H", msg[at : at + 2])[0] & 0x3FFF
        else:
            out.append(msg[at + 1 : at + 1 + msg[at]].decode("latin-1"))
            at += 1 + msg[at]
    return ".".join(out), end or at + 1


def said(msg):
    flags, questions, n, more, extra = struct.unpack(">5H", msg[2:12])
    out, at = [CODES.get(flags & 15, str(flags & 15))] + (["TC"] if flags & 0x200 else []), 12
    for _ in range(questions):
        at = name_at(msg, at)[1] + 4
    for i in range(n + more + extra):
        at = name_at(msg, at)[1]
        kind, _, ttl, size = struct.unpack(">HHIH", msg[at : at + 10])
        data, at = msg[at + 10 : at + 10 + size], at + 10 + size
        if kind == TYPES["OPT"]:
            out.insert(1, "OPT")
        elif i >= n:
            continue
        elif kind == TYPES["CNAME"]:
            out.append("CNAME=" + name_at(msg, at - size)[0])
        else:
            out.append(socket.inet_ntop(socket.AF_INET6 if size == 16 else socket.AF_INET, data))
    return out


def udp(msg):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(WAIT)
        s.connect(SERVER)
        s.send(msg)
        return s.recv(65535)


def read(s, size):
    out = b""
    while len(out) < size:
        more = s.recv(size - len(out))
        if not more:
            raise EOFError
        out += more
    return out


def tcp_read(s):
    return read(s, struct.unpack(">H", read(s, 2))[0])


def framed(msg):
    return struct.pack(">H", len(msg)) + msg


def tcp(msg):
    with socket.create_connection(SERVER, WAIT) as s:
        s.sendall(framed(msg))
        return tcp_read(s)


def ask(how, name, kind="A", option="", number=None):
    number = number or struct.unpack(">H", os.urandom(2))[0]
    msg = {"udp": udp, "tcp": tcp}[how](pack(name, kind, number, option))
    assert struct.unpack(">H", msg[:2])[0] == number, "another id"
    return said(msg)


def part_pipeline():
    """Questions on one TCP connection, all sent before an answer is read, in pieces: each has its answer."""
    with socket.create_connection(SERVER, WAIT) as s:
        all = b"".join(framed(pack("a-10-0-0-%d.up.test" % i, "A", 1000 + i)) for i in range(30))
        for at in range(0, len(all), 7):
            s.sendall(all[at : at + 7])
        got = {}
        for _ in range(30):
            msg = tcp_read(s)
            got[struct.unpack(">H", msg[:2])[0] - 1000] = said(msg)
    print(len(got), all != b"" and sum(got[i] == ["NOERROR", "10.0.0.%d" % i] for i in got))


def part_slow():
    """A name that takes 3 s, and one that never is answered: others come meanwhile, on the same socket as well."""
    order, s = [], socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    s.connect(SERVER)
    s.send(pack("silent.up.test", "A", 7))
    s.send(pack("slow.up.test", "A", 8))
    time.sleep(0.2)
    s.send(pack("a-1-1-1-1.up.test", "A", 9))
    other = threading.Thread(target=lambda: order.append(ask("udp", "a-2-2-2-2.up.test")[1]))
    other.start()
    other.join()
    for _ in range(2):
        order.append({7: "silent", 8: "slow", 9: "quick"}[struct.unpack(">H", s.recv(999)[:2])[0]])
    print(*order)


def part_from():
    """part_from N: whom answers are from, with N sockets that are not connected, by recvfrom and, of the first, by recvmsg."""
    all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(int(sys.argv[2]))]
    for i, s in enumerate(all):
        s.settimeout(20)
        s.sendto(pack("single", "A", i), SERVER)
    said = {s.recvfrom(512)[1] for s in all}
    all[0].sendto(pack("single", "A", 1), SERVER)
    print(said, all[0].recvmsg(512)[3])


def part_ttl():
    """The TTL of the first answer, of each name."""
    for name in sys.argv[2:]:
        msg = udp(pack(name, "A", 1))
        at = name_at(msg, name_at(msg, 12)[1] + 4)[1]
        print(struct.unpack(">I", msg[at + 4 : at + 8])[0])


def part_flood():
    """10,000 questions of three kinds at once from 50 sockets, of which nobody reads the answers: then others are answered."""
    all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(50)]
    for s in all:
        s.connect(SERVER)
        s.setblocking(False)
    for i in range(10000):
        try:
            all[i % 50].send(pack(("f%d.no.test", "silent.f%d.up.test", "a-1-1-1-1.f%d.up.test")[i % 3] % i, "A", i & 0xFFFF))
        except OSError:
            pass
    print(ask("tcp", "a.no.test")[0], ask("udp", "single")[0])
    for s in all:
        s.close()
    for _ in range(100):
        if ask("udp", "a-1-2-3-4.up.test") == ["NOERROR", "1.2.3.4"]:
            break
        time.sleep(0.3)
    print("answered", ask("tcp", "a-1-2-3-4.up.test"))


def part_long():
    """Questions by TCP that are longer than any, and one that comes a byte at a time."""
    for data in (b"\xff\xff", b"\xff\xff" + b"x" * 65535, b"\x10\x01"):
        with socket.create_connection(SERVER, WAIT) as s:
            try:
                s.sendall(data)
                print("closed" if not s.recv(1) else "answered")
            except OSError:
                print("closed")
    with socket.create_connection(SERVER, WAIT) as s:
        for b in framed(pack("a-1-2-3-4.up.test", "A", 9)):
            s.sendall(bytes([b]))
            time.sleep(0.02)
        print(*said(tcp_read(s)))


def part_malformed():
    """What is no question is not answered, or with FORMERR or NOTIMP, and the stub goes on."""
    good = pack("a-1-2-3-4.up.test", "A", 77)
    for bad in (b"", b"x", good[:12], good[:-1], good[:2] + b"\x81\x80" + good[4:], b"\xff" * 600,
                good[:12] + b"\xc0\x0c\0\1\0\1", good[:4] + b"\0\2" + good[6:], good[:2] + b"\x10\0" + good[4:]):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.3)
            s.connect(SERVER)
            s.send(bad or b"\0")
            try:
                msg = s.recv(999)
                if msg[3] & 15 not in (1, 4):
                    print("answered", bad[:20], msg)
            except socket.timeout:
                pass
        try:
            with socket.create_connection(SERVER, 1) as t:
                t.sendall(framed(bad))
                t.shutdown(socket.SHUT_WR)
                while t.recv(999):
                    pass
        except OSError:
            pass
    print("goes on", ask("udp", "a-1-2-3-4.up.test"), ask("tcp", "a-1-2-3-4.up.test"))


def part_connect():
    """connect HOST:PORT...: resolved by libc; the error's name, or ok."""
    import errno

    for text in sys.argv[2:]:
        host, port = text.rsplit(":", 1)
        try:
            socket.create_connection((host, int(port)), 20).close()
            print(text, "ok")
        except socket.gaierror as e:
            print(text, "no name" if e.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", -5)) else e)
        except OSError as e:
            print(text, errno.errorcode.get(e.errno, e))


def main():
    part = globals().get("part_" + sys.argv[1])
    if part:
        part()
        return
    for text in sys.argv[1:]:
        try:
            print(*ask(*text.split(":")))
        except (OSError, EOFError, AssertionError) as e:
            print("error", e)


main()

#!/usr/bin/env python3
"""A DNS server for tests on 127.0.0.1 or $DNS_ADDRESS, UDP and TCP. Usage: dns.py DIR [PORT [well]]; writes its port to DIR/port and each question
to DIR/asked. One that is "well" answers A of servfail and silent as well. What it answers follows from the first label of the name:

  a-1-2-3-4          A 1.2.3.4 (AAAA: none)      six           AAAA 2001:db8::6 (A: none)
  both               A and AAAA                  alias         CNAME to cdn, to edge, with A
  gone               NXDOMAIN                    servfail      SERVFAIL
  many               60 addresses, cut by UDP    cut           always cut by UDP
  slow               after 3 s                   silent        never
  wrongid            wrong ids, then the answer  rebind        first 198.51.100.7, then 127.0.0.1
  to-127-0-0-1       as a-, special addresses    mixed         198.51.100.7 and 127.0.0.1
  other              answers another question    garbage       no DNS at all
  chain-N            N aliases, then A           loop          two aliases of each other
  todenied           CNAME to denied, with A     stray         A of another name
  nottl              A with a TTL of 0           big           65,535 bytes by TCP, cut by UDP
  otherport          right ids from other ports  closes        cut by UDP, closed by TCP
  mute               cut by UDP, silent by TCP   drip          cut by UDP, 65,535 bytes by TCP, one each second
"""
import os
import socket
import struct
import sys
import threading
import time

A, CNAME, SOA, AAAA = 1, 5, 6, 28
seen = {}
well = sys.argv[3:] == ["well"]
where = os.environ.get("DNS_ADDRESS", "127.0.0.1")


def labels(name):
    return b"".join(bytes([len(x)]) + x.encode() for x in name.split(".") if x) + b"\0"


def question(msg):
    at, out = 12, []
    while msg[at]:
        out.append(msg[at + 1 : at + 1 + msg[at]].decode("latin-1"))
        at += 1 + msg[at]
    return ".".join(out), struct.unpack(">H", msg[at + 1 : at + 3])[0], msg[12 : at + 5]


def record(owner, kind, data, ttl=30):
    return owner + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def answers(name, kind, tcp):
    """The answer records, the code, and whether it is cut."""
    here, first = b"\xc0\x0c", name.split(".")[0].lower()
    domain = name.split(".", 1)[1] if "." in name else ""
    count = seen[first] = seen.get(first, 0) + 1
    a = lambda *texts: [record(here, A if kind == A else AAAA, address(t)) for t in texts]
    if first.startswith(("a-", "to-")):
        return (a(".".join(first.split("-")[1:])) if kind == A else []), 0, False
    if first == "six":
        return (a("2001:db8::6") if kind == AAAA else []), 0, False
    if first in ("both", "slow", "wrongid", "other", "otherport"):
        return a("198.51.100.1" if kind == A else "2001:db8::1"), 0, False
    if first == "alias":
        cdn, edge = labels("CDN." + domain), labels("edge." + domain)
        out = [record(here, CNAME, cdn), record(cdn, CNAME, edge)]
        return out + ([record(edge, A, address("198.51.100.2"))] if kind == A else []), 0, False
    if first in ("servfail", "silent") and well:
        return (a("198.51.100.9") if kind == A else []), 0, False
    if first == "gone":
        return [], 3, False
    if first == "servfail":
        return [], 2, False
    if first == "many":
        return (a(*("198.51.100.%d" % i for i in range(60))) if kind == A else [])[: 60 if tcp else 10], 0, not tcp
    if first == "cut":
        return (a("198.51.100.3") if kind == A and tcp else []), 0, not tcp
    if first.startswith("chain-"):
        names = [labels("c%d.%s" % (i, domain)) for i in range(int(first[6:]))]
        out = [record(o, CNAME, n) for o, n in zip([here] + names, names)]
        return out + ([record(names[-1], A, address("198.51.100.20"))] if kind == A else []), 0, False
    if first == "loop":
        pool = labels("pool." + domain)
        return [record(here, CNAME, pool), record(pool, CNAME, here)], 0, False
    if first == "todenied":
        denied = labels("denied." + domain)
        out = [record(here, CNAME, denied)]
        return out + ([record(denied, A, address("198.51.100.30"))] if kind == A else []), 0, False
    if first == "stray":
        return [record(labels("other." + domain), A, address("198.51.100.31"))], 0, False
    if first == "nottl":
        return ([record(here, A, address("198.51.100.40"), 0)] if kind == A else []), 0, False
    if first in ("big", "drip"):
        room = 65535 - 12 - len(labels(name)) - 4
        out = [record(here, A, address("198.51.100.50"))] + [record(here, 16, b"\xff" + b"x" * 255)] * ((room - 16) // 268)
        rest = room - sum(map(len, out))
        return (out + [record(here, 16, b"x" * (rest - 12))] * (rest >= 12) if tcp else []), 0, not tcp
    if first in ("closes", "mute"):
        return [], 0, True
    if first == "rebind":
        return (a("198.51.100.7" if count == 1 else "127.0.0.1") if kind == A else []), 0, False
    if first == "mixed":
        return (a("198.51.100.7", "127.0.0.1") if kind == A else []), 0, False
    return [], 3, False


def reply(msg, tcp, log):
    name, kind, raw = question(msg)
    with open(log, "a") as f:
        f.write("%s %s %s\n" % ("tcp" if tcp else "udp", name, {A: "A", AAAA: "AAAA"}.get(kind, kind)))
    first = name.split(".")[0].lower()
    if first == "silent" and not well:
        return []
    if first == "garbage":
        return [msg[:2] + b"\x81\x80" + os.urandom(60)]
    if first == "slow":
        time.sleep(3)
    records, code, cut = answers(name, kind, tcp)
    if first == "other":
        raw = labels("another.test") + raw[-4:]
    soa = []
    if not records and not cut:
        soa = [record(b"\0", SOA, b"\0\0" + struct.pack(">5I", 1, 1, 1, 1, 7))]
    flags = 0x8180 | code | (0x200 if cut else 0)
    body = struct.pack(">HHHHH", flags, 1, len(records), len(soa), 0) + raw + b"".join(records + soa)
    out = [msg[:2] + body]
    if first == "wrongid":
        out = [bytes([msg[0] ^ i, msg[1] ^ 1]) + body.replace(address("198.51.100.1"), address("203.0.113.66"))
               for i in range(20)] + out
    return out


def forge(msg, who):
    """The right id and question, from ports and an address that were not asked, before the answer."""
    for addr in ("127.0.0.1", "127.0.0.1", "127.0.0.99"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind((addr, 0))
            s.sendto(reply(msg, False, os.devnull)[0].replace(address("198.51.100.1"), address("203.0.113.66")), who)


def serve_udp(s, log):
    while True:
        msg, who = s.recvfrom(4096)
        if question(msg)[0].lower().startswith("otherport."):
            forge(msg, who)
        threading.Thread(target=lambda m=msg, w=who: [s.sendto(r, w) for r in reply(m, False, log)], daemon=True).start()


def serve_one(conn, log):
    def drip(data):
        for i in range(len(data)):
            conn.sendall(data[i : i + 1])
            time.sleep(1)

    with conn:
        data = b""
        while True:
            more = conn.recv(4096)
            if not more:
                return
            data += more
            while len(data) >= 2 and len(data) >= 2 + struct.unpack(">H", data[:2])[0]:
                n = struct.unpack(">H", data[:2])[0]
                first = question(data[2 : 2 + n])[0].split(".")[0].lower()
                for r in reply(data[2 : 2 + n], True, log):
                    if first == "closes":
                        return
                    send = drip if first == "drip" else conn.sendall
                    if first != "mute":
                        send(struct.pack(">H", len(r)) + r)
                data = data[2 + n :]


def main():
    folder, port = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    log = os.path.join(folder, "asked")
    while True:
        family = socket.AF_INET6 if ":" in where else socket.AF_INET
        tcp = socket.socket(family)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        at = socket.getaddrinfo(where, port, family, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)[0][4]
        tcp.bind(at)
        udp = socket.socket(family, socket.SOCK_DGRAM)
        try:
            udp.bind((at[0], tcp.getsockname()[1], *at[2:]))
            break
        except OSError:
            if port:
                raise
    tcp.listen(64)
    open(log, "a").close()
    with open(os.path.join(folder, "port.new"), "w") as f:
        f.write("%d\n" % tcp.getsockname()[1])
    os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
    threading.Thread(target=serve_udp, args=(udp, log), daemon=True).start()
    while True:
        conn, _ = tcp.accept()
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve_one, args=(conn, log), daemon=True).start()


main()

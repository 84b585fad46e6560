#!/usr/bin/env python3
"""Sockets towards this machine. Usage: local_client.py QUESTION...

Each question gets a line of its own, as "QUESTION ok" or "QUESTION ERRNO". It is one of
    unix:PATH  unix:@NAME    connect there by a stream
    tcp:HOST:PORT            connect there
    bind:ADDRESS:PORT        bind only
    bind-unspec:PORT         to 0.0.0.0, in the family AF_UNSPEC
    listen:ADDRESS:PORT      bind and listen
    listen                   without a bind
    serve:FILE               listen at all addresses, write the port to FILE, and send "inside" to the first who comes
"""
import ctypes
import errno
import os
import socket
import struct
import sys


def connect_unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect("\0" + path[1:] if path[0] == "@" else path)
    if s.recv(16) != b"outside":
        raise OSError(errno.EPROTO, "someone else")


def connect_tcp(where):
    host, port = where.rsplit(":", 1)
    s = socket.create_connection((host, int(port)), 20)
    if s.recv(16) != b"outside":
        raise OSError(errno.EPROTO, "someone else")


def bound(where):
    address, port = where.rsplit(":", 1)
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    s.bind((address, int(port)))
    return s


def bind_unspec(port):
    s = socket.socket()
    address = struct.pack("=HH12x", socket.AF_UNSPEC, socket.htons(int(port)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.bind(s.fileno(), address, len(address)) < 0:
        raise OSError(ctypes.get_errno(), "bind")


def serve(name):
    s = bound("0.0.0.0:0")
    s.listen()
    with open(name + ".new", "w") as f:
        f.write(str(s.getsockname()[1]))
    os.rename(name + ".new", name)
    s.settimeout(60)
    s.accept()[0].sendall(b"inside")


DO = {"unix": connect_unix, "tcp": connect_tcp, "bind": bound, "bind-unspec": bind_unspec, "listen": lambda a: (bound(a) if a else socket.socket()).listen(), "serve": serve}
for question in sys.argv[1:]:
    kind, _, rest = question.partition(":")
    try:
        DO[kind](rest)
        print(question, "ok", flush=True)
    except OSError as e:
        print(question, errno.errorcode.get(e.errno, str(e)), flush=True)

#!/usr/bin/env python3
"""Several calls at once on one TCP socket. Usage: connects.py shutdown|both|listen. Prints what came of it, alike everywhere."""
import errno
import os
import socket
import sys
import threading
import time

LO = "127.0.0.1"


def name(number):
    return errno.errorcode.get(number, number)


def full_listener():
    server = socket.socket()
    server.bind((LO, 0))
    server.listen(1)
    waiting = [socket.socket() for _ in range(4)]
    for client in waiting:
        client.setblocking(False)
        client.connect_ex(server.getsockname())
    return server, waiting


def started(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


def shutdown():
    """A connect that waits is ended by another thread, once with one that waits and once with two."""
    server, waiting = full_listener()
    for callers in 1, 2:
        client, came = socket.socket(), []
        threads = [started(lambda: came.append(name(client.connect_ex(server.getsockname())))) for _ in range(callers)]
        time.sleep(0.5)
        client.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(20)
        # The kernel tells one of two what happened.
        print(callers, len(came), "ECONNRESET" in came, 0 in came)


def both():
    """Two threads connect one socket that waits: neither is told before the connection is there."""
    server = socket.socket()
    server.bind((LO, 0))
    server.listen(4096)
    early, slow = 0, 0
    for _ in range(150):
        client, came = socket.socket(), []
        start = threading.Barrier(3)

        def connect():
            start.wait()
            came.append(client.connect_ex(server.getsockname()))

        threads = [started(connect) for _ in range(2)]
        start.wait()
        begin = time.monotonic()
        with socket.socket() as other:
            other.bind((LO, 0))
        slow += time.monotonic() - begin > 10
        for thread in threads:
            thread.join(20)
        early += any(c not in (0, errno.EISCONN) for c in came) or len(came) != 2
        client.close()
    print("early", early, "slow", slow)


def listen():
    """A listen that fails leaves the socket and its connect as they were."""
    server, waiting = full_listener()
    client = socket.socket()
    client.setblocking(False)
    first = client.connect_ex(server.getsockname())
    try:
        client.listen(1)
        print("listens")
    except OSError as e:
        print(name(first), name(e.errno), client.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16))
    for _ in range(len(waiting)):
        server.accept()
    client.setblocking(True)
    print(name(client.connect_ex(server.getsockname())) in (0, "EISCONN"))


{"shutdown": shutdown, "both": both, "listen": listen}[sys.argv[1]]()
sys.stdout.flush()
os._exit(0)

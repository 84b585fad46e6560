"""Servers for the tests of the proxy, on loopback: proxy_servers.py FOLDER

Writes their ports to FOLDER/ports as shell variables, and serves until it is killed. FOLDER/cert.pem and key.pem: TLS, too.
FOLDER/www holds files; each request to the parent is a line of FOLDER/parent.log, its bytes are in FOLDER/raw.log.
"""
import base64
import os
import socket
import ssl
import struct
import sys
import threading

folder = sys.argv[1]
lock = threading.Lock()
ports = {}


def note(name, data):
    with lock, open(os.path.join(folder, name), 'ab') as f:
        f.write(data)


def read_head(c, data=b''):
    while b'\r\n\r\n' not in data:
        more = c.recv(65536)
        if not more:
            return None, data
        data += more
    return data.split(b'\r\n\r\n', 1)


def fields(head):
    return {k.strip().lower(): v.strip() for k, v in (x.split(':', 1) for x in head.decode('latin-1').split('\r\n')[1:])}


class Body:
    """A request's body, read to its end and no further."""

    def __init__(self, c, rest):
        self.c, self.data = c, rest

    def take(self, n):
        while len(self.data) < n:
            more = self.c.recv(65536)
            if not more:
                raise EOFError
            self.data += more
        out, self.data = self.data[:n], self.data[n:]
        return out

    def line(self):
        out = b''
        while not out.endswith(b'\r\n'):
            out += self.take(1)
        return out[:-2]

    def size(self, f):
        if f.get('transfer-encoding') != 'chunked':
            left = total = int(f.get('content-length', 0))
            while left:
                left -= len(self.take(min(left, 65536)))
            return total
        total = 0
        while True:
            n = int(self.line(), 16)
            self.take(n)
            self.line()
            if n == 0:
                return total
            total += n


def answer(c, text, status='200 OK', more=''):
    body = text if isinstance(text, bytes) else text.encode()
    c.sendall(('HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n' % (status, len(body), more)).encode() + body)


def serve_one(c, rest):
    head, rest = read_head(c, rest)
    if head is None:
        return None
    f, line = fields(head), head.decode('latin-1').split('\r\n')[0]
    path = line.split(' ')[1]
    if f.get('upgrade') == 'websocket' and path == '/socket':
        c.sendall(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
        while True:
            data = c.recv(65536)
            if not data:
                return None
            c.sendall(b'<' + data + b'>')
    if f.get('expect') == '100-continue':
        c.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
    body = Body(c, rest)
    n = body.size(f)
    name = os.path.normpath(folder + '/www' + path.split('?')[0])
    if path.startswith('/big/'):
        size = int(path[5:])
        c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % size)
        for at in range(0, size, 65536):
            c.sendall(b'x' * min(65536, size - at))
    elif path == '/stream':
        c.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
        for i in range(20):
            c.sendall(b'5\r\nline\n\r\n')
        c.sendall(b'0\r\n\r\n')
    elif path == '/short':
        c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort')
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        c.close()
        return None
    elif os.path.isfile(name):
        answer(c, open(name, 'rb').read())
    elif path.startswith('/repo.git/'):
        answer(c, 'none', '404 Not Found')
    else:
        answer(c, head.decode('latin-1') + '\r\nbody %d' % n)
    return None if f.get('connection') == 'close' else body.data


def web(c):
    rest = b''
    while rest is not None:
        rest = serve_one(c, rest)


def echo(c):
    """Everything, once the other side has ended."""
    total = 0
    while True:
        data = c.recv(65536)
        if not data:
            break
        total += len(data)
    c.sendall(b'%d bytes' % total)


def talk(c):
    """Says something first, then back whatever comes."""
    c.sendall(b'hello\n')
    while True:
        data = c.recv(65536)
        if not data:
            break
        c.sendall(data)


def hold(c):
    """Sends much, and reads nothing until then."""
    for _ in range(320):
        c.sendall(b'y' * 65536)
    c.recv(1)


def raw(c):
    while True:
        data = c.recv(65536)
        if not data:
            break
        note('raw.log', data)
        if b'\r\n\r\n' in data:
            answer(c, 'raw')


def pump(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data:
                break
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def parent(c):
    """A proxy with a login that takes any name for this machine: port 443 for the server with TLS, others for the one without."""
    head, rest = read_head(c)
    if head is None:
        return
    f = fields(head)
    line = head.decode('latin-1').split('\r\n')[0]
    note('parent.log', (line + ' host=' + f.get('host', '-') + ' login=' +
                        base64.b64decode(f.get('proxy-authorization', 'Basic ').split(' ')[1]).decode() + '\n').encode())
    target = line.split(' ')[1]
    if 'forbidden' in target:
        answer(c, 'no', '403 Not \u202ehere')
        return
    if 'garbage' in target:
        c.sendall(b'SSH-2.0-x\r\n\r\n')
        return
    s = socket.create_connection(('127.0.0.1', ports['TLS' if target.endswith(':443') and 'TLS' in ports else 'WEB']))
    if line.startswith('CONNECT '):
        c.sendall(b'HTTP/1.1 200 OK\r\nVia: test\r\n\r\n' + rest)
    else:
        path = '/' + target.split('/', 3)[3]
        out = line.replace(target, path, 1) + '\r\n' + '\r\n'.join(head.decode('latin-1').split('\r\n')[1:]) + '\r\n\r\n'
        s.sendall(out.encode('latin-1') + rest)
    threading.Thread(target=pump, args=(c, s), daemon=True).start()
    pump(s, c)


def run(handler, c, context):
    try:
        if context:
            c = context.wrap_socket(c, server_side=True)
        handler(c)
        if not context:
            c.shutdown(socket.SHUT_WR)
    except (OSError, EOFError, ValueError):
        pass
    c.close()


def listen(name, handler, address='127.0.0.1', context=None):
    s = socket.socket()
    s.bind((address, 0))
    s.listen(200)
    ports[name] = s.getsockname()[1]

    def loop():
        while True:
            c, _ = s.accept()
            threading.Thread(target=run, args=(handler, c, context), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


listen('WEB', web)
listen('ECHO', echo)
listen('TALK', talk)
listen('HOLD', hold)
listen('RAW', raw)
listen('PARENT', parent)
if os.path.exists(folder + '/cert.pem'):
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(folder + '/cert.pem', folder + '/key.pem')
    listen('TLS', web, context=ctx)
with open(folder + '/ports.new', 'w') as out:
    out.write(''.join('%s=%d\n' % p for p in ports.items()))
os.rename(folder + '/ports.new', folder + '/ports')
threading.Event().wait()

"""The servers that tests/attack/proxy.t guards, and who attacks them.

proxy.py serve PORTS HITS     an open and a shut server, and a proxy that reaches any name for whoever asks
proxy.py direct PORT          asks the shut server, as nothing but cordon would stop it
proxy.py send BYTES [TOKEN]   sends the bytes to the session's proxy, as Python would write them, {login} being the line with
                              the token; shows what comes back
"""
import base64
import os
import socket
import sys
import threading
import urllib.parse

ports = {}


def read_head(c):
    data = b''
    while b'\r\n\r\n' not in data:
        more = c.recv(65536)
        if not more:
            return None
        data += more
    return data


def answer(c, word):
    c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s' % (len(word), word))


def shut(c, data, hits):
    hits.write('shut\n')
    answer(c, b'SECRET')


def open_(c, data, hits):
    """Another host by the name alone, as on the machines of a content delivery network."""
    hosts = [x for x in data.lower().split(b'\r\n') if x.startswith(b'host:')]
    if any(b'shut.test' in x for x in hosts):
        hits.write('virtual host\n')
        answer(c, b'SECRET')
    elif b'\r\nupgrade:' in data.lower():
        c.sendall(b'HTTP/1.1 101 Switching Protocols\r\n\r\n')
    else:
        answer(c, b'open')


def lax(c, data, hits):
    """Takes every request that it finds in what comes, whatever a body may be."""
    c.settimeout(1)
    while True:
        if b'shut.test' in data:
            hits.write('smuggled\n')
            answer(c, b'SECRET')
        elif b'\r\nupgrade:' in data.lower():
            c.sendall(b'HTTP/1.1 101 Switching Protocols\r\n\r\n')
        else:
            answer(c, b'open')
        try:
            data = c.recv(65536)
        except socket.timeout:
            return
        if not data:
            return


def serve(path, hits_path):
    def listen(name, handler, address):
        s = socket.socket()
        s.bind((address, 0))
        s.listen(50)
        ports[name] = s.getsockname()[1]

        def one(c):
            try:
                data = read_head(c)
                if data:
                    with open(hits_path, 'a') as hits:
                        handler(c, data, hits)
                    c.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            c.close()

        def loop():
            while True:
                threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
        threading.Thread(target=loop, daemon=True).start()

    listen('SHUT', shut, '127.0.0.9')
    listen('OPEN', open_, '127.0.0.1')
    listen('LAX', lax, '127.0.0.2')
    with open(path + '.new', 'w') as f:
        f.write(''.join('%s=%d\n' % x for x in ports.items()))
    os.rename(path + '.new', path)
    threading.Event().wait()


def show(s):
    s.settimeout(20)
    try:
        while True:
            data = s.recv(65536)
            if not data:
                break
            print(data)
    except OSError as e:
        print(e)


def send(text, token):
    url = urllib.parse.urlsplit(os.environ['HTTP_PROXY'])
    word = url.password if token is None else token
    login = 'Proxy-Authorization: Basic ' + base64.b64encode(('x:' + word).encode()).decode() + '\r\n'
    data = text.encode().decode('unicode_escape').encode('latin-1')
    s = socket.create_connection((url.hostname, url.port), 20)
    if data[:1] == b'\5':
        s.sendall(b'\5\1\2\1\1x' + bytes([len(word)]) + word.encode() + data)
    else:
        s.sendall(data.replace(b'{login}', login.encode()))
    s.shutdown(socket.SHUT_WR)
    show(s)


if sys.argv[1] == 'serve':
    serve(*sys.argv[2:4])
elif sys.argv[1] == 'direct':
    c = socket.create_connection(('127.0.0.9', int(sys.argv[2])), 20)
    c.sendall(b'GET / HTTP/1.1\r\nHost: shut.test\r\n\r\n')
    show(c)
else:
    send(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)

"""A program that speaks with the session's proxy by hand: proxy_client.py PART. Prints "ok WHAT" or "not ok WHAT: GOT"."""
import base64
import os
import socket
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

url = urllib.parse.urlsplit(os.environ['HTTP_PROXY'])
proxy, token = (url.hostname, url.port), url.password
login = 'Proxy-Authorization: Basic ' + base64.b64encode(('any:' + token).encode()).decode() + '\r\n'


def ok(what, good, got=''):
    print('%sok %s%s' % ('' if good else 'not ', what, '' if good else ': %.300r' % (got,)))


def connect():
    s = socket.create_connection(proxy, 60)
    return s


def take(s, n):
    data = b''
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            break
        data += more
    return data


def read_all(s):
    data = b''
    try:
        while True:
            more = s.recv(65536)
            if not more:
                break
            data += more
    except ConnectionResetError:
        data += b'<reset>'
    return data


def exchange(data, end=False):
    s = connect()
    s.sendall(data if isinstance(data, bytes) else data.encode('latin-1'))
    if end:
        s.shutdown(socket.SHUT_WR)
    out = read_all(s)
    s.close()
    return out


def status(data):
    return int(data.split(b' ')[1]) if data.startswith(b'HTTP/1.') else 0


def want(what, code, data):
    got = exchange(data)
    ok(what, status(got) == code, got)
    return got


def tunnel(host, port, rest=b''):
    s = connect()
    s.sendall(('CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n%s\r\n' % (host, port, login)).encode() + rest)
    head = b''
    while not head.endswith(b'\r\n\r\n'):
        more = s.recv(1)
        if not more:
            break
        head += more
    return s, head


def socks(request, methods=b'\5\1\2', password=None, whole=False):
    s = connect()
    word = (token if password is None else password).encode()
    log = b'\1\3any' + bytes([len(word)]) + word
    if whole:
        s.sendall(methods + log + request)
        out = b''
        while len(out) < 14:
            more = s.recv(14 - len(out))
            if not more:
                break
            out += more
        return s, out
    s.sendall(methods)
    out = s.recv(2)
    if out == b'\5\2':
        s.sendall(log)
        more = s.recv(2)
        out += more
        if more == b'\1\0':
            s.sendall(request)
            out += s.recv(10)
    return s, out


def by_name(host, port):
    return b'\5\1\0\3' + bytes([len(host)]) + host.encode() + struct.pack('>H', port)


def part_heads():
    get = 'GET http://web.test/x HTTP/1.1\r\nHost: web.test\r\n'
    want('with the token', 200, get + login + '\r\n')
    got = want('without it 407', 407, get + '\r\n')
    ok('407 says how', b'Proxy-Authenticate: Basic' in got, got)
    want('with another 407', 407, get + 'Proxy-Authorization: Basic ' + base64.b64encode(b'x:' + b'0' * 32).decode() + '\r\n\r\n')
    want('with a longer one 407', 407, get + 'Proxy-Authorization: Basic ' + base64.b64encode(b'x:' + token.encode() + b'0').decode() + '\r\n\r\n')
    want('with an empty one 407', 407, get + 'Proxy-Authorization: Basic ' + base64.b64encode(b'x:').decode() + '\r\n\r\n')
    want('as Bearer 407', 407, get + 'Proxy-Authorization: Bearer ' + token + '\r\n\r\n')
    want('CONNECT without it 407', 407, 'CONNECT web.test:80 HTTP/1.1\r\n\r\n')
    want('a refused name without it 407', 407, 'CONNECT no.test:80 HTTP/1.1\r\n\r\n')
    want('not a proxy request 400', 400, 'GET / HTTP/1.1\r\nHost: web.test\r\n' + login + '\r\n')
    want('a malformed CONNECT 400', 400, 'CONNECT web.test HTTP/1.1\r\n' + login + '\r\n')
    want('bare LF 400', 400, 'GET http://web.test/ HTTP/1.1\nHost: web.test\n\n')
    want('a control character 400', 400, 'GET http://web.test/\x01 HTTP/1.1\r\n\r\n')
    want('a space before the colon 400', 400, 'GET http://web.test/ HTTP/1.1\r\nHost : x\r\n' + login + '\r\n')
    want('a folded line 400', 400, get + 'A: b\r\n c\r\n' + login + '\r\n')
    want('two lengths 400', 400, get + 'Content-Length: 1\r\nContent-Length: 1\r\n' + login + '\r\n')
    want('TLS to the proxy 400', 400, b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03')
    want('HTTP/2 505', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    want('a long head 431', 431, get + 'A: ' + 'b' * 20000 + '\r\n\r\n')
    want('many fields 431', 431, get + 'A: b\r\n' * 200 + '\r\n')
    got = want('a refused name 403', 403, 'GET http://no.test/ HTTP/1.1\r\n' + login + '\r\n')
    ok('the body says so', b'\r\n\r\nConnection blocked by network allowlist: no.test:80' in got, got)
    ok('X-Proxy-Error says so', b'X-Proxy-Error: blocked-by-allowlist\r\n' in got, got)
    got = want('a refused CONNECT 403', 403, 'CONNECT no.test:443 HTTP/1.1\r\n' + login + '\r\n')
    ok('CONNECT: generic phrase', got.startswith(b'HTTP/1.1 403 Connection blocked by network allowlist\r\n'), got)
    got = want('a reason 403', 403, 'CONNECT why.test:443 HTTP/1.1\r\n' + login + '\r\n')
    ok('the reason is the phrase, and harmless', got.startswith(b'HTTP/1.1 403 ask \\xe2\\x80\\xaethe "team"\r\n'), got)
    got = want('HEAD 403', 403, 'HEAD http://no.test/ HTTP/1.1\r\n' + login + '\r\n')
    ok('HEAD gets no body', got.endswith(b'\r\n\r\n'), got)
    got = want('a dead host 502', 502, 'GET http://dead.test/ HTTP/1.1\r\n' + login + '\r\n')
    ok('502 says why', b'Connection refused' in got, got)
    want('a dead host by CONNECT 502', 502, 'CONNECT dead.test:80 HTTP/1.1\r\n' + login + '\r\n')
    want('another port 403', 403, 'CONNECT port.test:81 HTTP/1.1\r\n' + login + '\r\n')


def part_forward():
    got = exchange('GET http://WEB.test./p?q HTTP/1.1\r\nHost: other\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\n'
                   'Proxy-Connection: keep-alive\r\nKeep-Alive: 5\r\nAccept: */*\r\n' + login + '\r\n')
    seen = got.split(b'\r\n\r\n', 1)[1]
    ok('what is sent on', seen == b'GET /p?q HTTP/1.1\r\nHost: web.test\r\nAccept: */*\r\nConnection: close\r\nbody 0', seen)
    got = exchange('POST http://web.test/ HTTP/1.1\r\nContent-Length: 5\r\n' + login + '\r\n12345GET http://no.test/ HTTP/1.1\r\n\r\n')
    ok('one request only', got.endswith(b'body 5') and got.count(b'HTTP/1.1 ') == 1, got)
    got = exchange('POST http://web.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n' + login +
                   '\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: no.test\r\n\r\n')
    ok('one chunked request only', got.endswith(b'body 3') and got.count(b'HTTP/1.1 ') == 1, got)
    got = exchange('GET http://web.test/ HTTP/1.1\r\n' + login + '\r\nGET / HTTP/1.1\r\nHost: no.test\r\n\r\n')
    ok('nothing after a request without a body', got.endswith(b'body 0') and got.count(b'HTTP/1.1 ') == 1, got)
    got = exchange('GET http://web.test/stream HTTP/1.1\r\n' + login + '\r\n')
    ok('a chunked answer', got.count(b'line\n') == 20 and got.endswith(b'0\r\n\r\n'), got)
    got = exchange('GET http://web.test/short HTTP/1.1\r\n' + login + '\r\n')
    ok('a reset is passed on', got.endswith(b'<reset>'), got)
    s = connect()
    s.sendall(('GET http://web.test/socket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' + login + '\r\n').encode())
    head = s.recv(65536)
    s.sendall(b'frame')
    got = take(s, 7)
    ok('WebSocket goes on after 101', head.startswith(b'HTTP/1.1 101 ') and got == b'<frame>', (head, got))
    s.close()
    s = connect()
    s.sendall(('GET http://web.test/x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' + login + '\r\n').encode())
    time.sleep(0.2)
    s.sendall(b'GET http://no.test/ HTTP/1.1\r\n\r\n')
    got = read_all(s)
    ok('and not after another answer', got.count(b'HTTP/1.1 200') == 1 and b'no.test' not in got, got)
    got = exchange('GET http://web.test/big/20000000 HTTP/1.1\r\n' + login + '\r\n')
    ok('a large answer', len(got) > 20000000 and len(got) < 20001000, len(got))
    s = connect()
    s.sendall(('PUT http://web.test/ HTTP/1.1\r\nContent-Length: 20000000\r\n' + login + '\r\n').encode())
    s.sendall(b'z' * 20000000)
    got = read_all(s)
    ok('a large request', got.endswith(b'body 20000000'), got)


def part_tunnels():
    s, head = tunnel('echo.test', 7, b'early')
    s.sendall(b'a' * 100000)
    s.shutdown(socket.SHUT_WR)
    got = read_all(s)
    ok('half-close, and bytes that came early', head.startswith(b'HTTP/1.1 200 ') and got == b'100005 bytes', (head, got))
    s, head = tunnel('talk.test', 8)
    got = take(s, 6)
    for i in range(100):
        s.sendall(b'%04d' % i)
        got = take(s, 4)
    ok('to and fro', got == b'0099', got)
    s.close()
    s, head = tunnel('hold.test', 9)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    time.sleep(0.5)
    n = 0
    while n < 320 * 65536:
        more = len(s.recv(1 << 20))
        if not more:
            break
        n += more
    ok('one who reads late gets all', n == 320 * 65536, n)
    s.close()
    many = [tunnel('talk.test', 8)[0] for _ in range(200)]
    for s in many:
        s.sendall(b'x')
    got = [take(s, 7) for s in many]
    ok('200 at a time', got == [b'hello\nx'] * 200, [(i, g) for i, g in enumerate(got) if g != b'hello\nx'])
    for s in many:
        s.close()


def part_socks():
    s, out = socks(by_name('web.test', 80))
    s.sendall(b'GET /s HTTP/1.1\r\nConnection: close\r\n\r\n')
    got = read_all(s)
    ok('SOCKS by name', out == b'\5\2\1\0\5\0\0\1\0\0\0\0\0\0' and b'GET /s' in got, (out, got))
    s, out = socks(by_name('talk.test', 8), whole=True)
    ok('SOCKS in one piece', out == b'\5\2\1\0\5\0\0\1\0\0\0\0\0\0' and take(s, 6) == b'hello\n', out)
    ok('SOCKS to a refused name', socks(by_name('no.test', 80))[1][4:6] == b'\5\2')
    ok('SOCKS to a refused address', socks(b'\5\1\0\1\x7f\0\0\1\0\x16')[1][4:6] == b'\5\2')
    ok('SOCKS to a dead host', socks(by_name('dead.test', 80))[1][4:6] == b'\5\5')
    ok('SOCKS without login', socks(b'', b'\5\1\0')[1] == b'\5\xff')
    ok('SOCKS with another token', socks(b'', password='0' * 32)[1] == b'\5\2\1\1')
    ok('SOCKS BIND', socks(b'\5\2\0\1\1\1\1\1\0\x50')[1][4:6] == b'\5\7')
    ok('SOCKS UDP', socks(b'\5\3\0\1\1\1\1\1\0\x50')[1][4:6] == b'\5\7')
    ok('SOCKS with an odd kind of address', socks(b'\5\1\0\2\1\1\1\1\0\x50')[1][4:6] == b'\5\x08')
    ok('SOCKS 4', exchange(b'\4\1\0\x50\x7f\0\0\1u\0') in (b'', b'<reset>'))


def part_slow():
    silent = [connect() for _ in range(400)]
    for s in silent[:200]:
        try:
            s.sendall(b'GET http://web.test/ HTTP/1.1\r\n')
        except OSError:
            pass
    got = exchange('GET http://web.test/after HTTP/1.1\r\n' + login + '\r\n')
    ok('many that say nothing hold up nobody', status(got) == 200, got)
    gone = 0
    for s in silent:
        s.settimeout(0)
        try:
            gone += s.recv(1) == b''
        except ConnectionResetError:
            gone += 1
        except OSError:
            pass
    ok('the oldest of them were sent away', 100 < gone < 400, gone)
    s = connect()
    s.sendall(b'GET http://web.test/ HTTP/1.1\r\n')
    end = time.time() + 60
    s.settimeout(1)
    over = False
    while time.time() < end and not over:
        try:
            s.sendall(b'A: b\r\n')
            over = s.recv(1) == b''
        except socket.timeout:
            pass
        except OSError:
            over = True
    ok('a head that does not come to an end is not waited for', over)


def part_python():
    got = urllib.request.urlopen('http://web.test/py', timeout=30).read()
    ok('urllib', b'GET /py' in got, got)
    try:
        urllib.request.urlopen('http://no.test/', timeout=30)
        ok('urllib and a refused name', False)
    except urllib.error.HTTPError as e:
        ok('urllib and a refused name', e.code == 403, e.code)
    if os.environ.get('CERT'):
        import ssl
        context = ssl.create_default_context(cafile=os.environ['CERT'])
        got = urllib.request.urlopen('https://web.test/tls', timeout=30, context=context).read()
        ok('urllib with TLS', b'GET /tls' in got, got)


globals()['part_' + sys.argv[1]]()

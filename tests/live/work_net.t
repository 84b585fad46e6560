#!/bin/bash
# Inside as outside: servers and clients over TCP within one session.
. "$(dirname "$0")/work_lib.sh"

work 'python: http.server, urllib, socketserver, asyncio, selectors' python3 <<'EOF'
cat >x.py <<'X'
import asyncio, http.server, os, selectors, socket, socketserver, threading, urllib.request
h = http.server.ThreadingHTTPServer(('127.0.0.1', 0), type('H', (http.server.BaseHTTPRequestHandler,), {
	'do_GET': lambda s: (s.send_response(200), s.end_headers(), s.wfile.write(s.path.encode())), 'log_message': lambda *a: None}))
threading.Thread(target=h.serve_forever, daemon=True).start()
for i in range(20): assert urllib.request.urlopen('http://127.0.0.1:%d/x%d' % (h.server_address[1], i)).read() == b'/x%d' % i
print('http'); h.shutdown()
class E(socketserver.StreamRequestHandler):
	def handle(s): s.wfile.write(s.rfile.readline())
t = socketserver.ThreadingTCPServer(('', 0), E); threading.Thread(target=t.serve_forever, daemon=True).start()
def ask(i):
	c = socket.create_connection(('127.0.0.1', t.server_address[1])); c.sendall(b'%d\n' % i); r = c.makefile().readline(); c.close(); return r
ts = [threading.Thread(target=lambda i=i: out.append(ask(i))) for i in range(30)]; out = []
[x.start() for x in ts]; [x.join() for x in ts]; print(sorted(map(int, out))); t.shutdown()
async def main():
	async def serve(r, w): w.write((await r.readline()).upper()); await w.drain(); w.close()
	s = await asyncio.start_server(serve, '127.0.0.1', 0); port = s.sockets[0].getsockname()[1]
	async def one(i):
		r, w = await asyncio.open_connection('127.0.0.1', port); w.write(b'm%d\n' % i); d = await r.read(); w.close(); return d
	print(sorted(await asyncio.gather(*[one(i) for i in range(50)]))[:3]); s.close()
	try: await asyncio.open_connection('127.0.0.1', 1)
	except OSError as e: print(type(e).__name__)
asyncio.run(main())
l = socket.create_server(('127.0.0.1', 0)); sel = selectors.DefaultSelector(); c = socket.socket(); c.setblocking(False); print(c.connect_ex(l.getsockname()) in (0, 115)); sel.register(c, selectors.EVENT_WRITE); print(len(sel.select(5)), c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), c.getpeername() == l.getsockname())
a, _ = l.accept(); a.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1); a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); a.sendall(b'x' * 100000); a.close(); n = 0; c.setblocking(True)
while d := c.recv(65536): n += len(d)
print(n)
X
python3 x.py; echo $?
EOF

work 'python: forked workers, SO_REUSEPORT, sockets that are passed on' python3 <<'EOF'
cat >x.py <<'X'
import array, os, socket
l = socket.create_server(('127.0.0.1', 0)); kids = []
for i in range(3):
	p = os.fork()
	if p == 0:
		c, _ = l.accept(); c.sendall(b'w'); c.close(); os._exit(0)
	kids.append(p)
print([socket.create_connection(l.getsockname()).recv(1) for _ in kids], [os.waitpid(p, 0)[1] for p in kids])
s = [socket.socket() for _ in range(3)]
for x in s: x.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s[0].bind(('127.0.0.1', 0)); [x.bind(s[0].getsockname()) for x in s[1:]]; [x.listen() for x in s]
print(sum(1 for _ in range(20) if socket.create_connection(s[0].getsockname())))
a, b = socket.socketpair()
if os.fork() == 0:
	a.close(); fds = array.array('i'); _, anc, _, _ = b.recvmsg(1, socket.CMSG_SPACE(16)); fds.frombytes(anc[0][2]); c = socket.socket(fileno=fds[0]); c.connect(l.getsockname()); c.sendall(b'passed'); u = socket.socket(fileno=fds[1]); u.sendall(b'too'); os._exit(0)
c = socket.socket(); d = socket.create_connection(l.getsockname()); e, _ = l.accept()
a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [c.fileno(), d.fileno()]))])
f, _ = l.accept(); print(f.recv(9), e.recv(9)); os.wait()
def free():
	s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
p = free(); t = socket.socket(); t.bind(('127.0.0.1', p)); t.listen(); print('free')
X
python3 x.py; echo $?
EOF

work 'node: http, net, fetch, keep-alive, refused' node <<'EOF'
cat >x.js <<'X'
const net = require('net'), http = require('http');
(async () => {
	const h = http.createServer((q, a) => a.end(q.url)); await new Promise(r => h.listen(0, r)); const port = h.address().port;
	const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
	for (let i = 0; i < 5; i++) console.log(await new Promise(r => http.get({ port, host: '127.0.0.1', path: '/' + i, agent }, a => a.on('data', d => r('' + d)))));
	agent.destroy(); console.log(await (await fetch(`http://127.0.0.1:${port}/f`)).text());
	const s = net.createServer(c => c.pipe(c)); await new Promise(r => s.listen(0, '127.0.0.1', r));
	console.log((await Promise.all([...Array(30).keys()].map(i => new Promise(r => { const c = net.connect(s.address().port, '127.0.0.1'); c.end('m' + i); let d = ''; c.on('data', x => d += x).on('end', () => r(d === 'm' + i)); })))).every(x => x));
	await new Promise(r => net.connect(1, '127.0.0.1').on('error', e => { console.log(e.code); r(); }));
	await new Promise(r => net.createServer().on('error', e => { console.log(e.code); r(); }).listen(port)); h.close(); s.close();
	console.log(Object.keys(require('os').networkInterfaces()).includes('lo'));
})();
X
timeout 100 node x.js; echo $?
EOF

work 'curl and python -m http.server; bash /dev/tcp' curl python3 <<'EOF'
echo content >file; python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])' >port; p=$(cat port); rm port
python3 -m http.server -b 127.0.0.1 "$p" >/dev/null 2>&1 & server=$!
for i in $(seq 500); do curl -sf "http://127.0.0.1:$p/file" && break; sleep 0.1; done
exec 3<>"/dev/tcp/127.0.0.1/$p"; printf 'GET /file HTTP/1.0\r\n\r\n' >&3; tail -n 1 <&3; exec 3>&-
kill $server; wait $server 2>/dev/null; curl -s "http://127.0.0.1:$p/file"; echo $?
EOF

# Socket activation: whoever starts the command made the listener, and the command listens once more, as servers do.
cat >"$base/inner.py" <<'EOF'
import socket
s = socket.socket(fileno=9); s.listen(7)
c = socket.create_connection(s.getsockname()); a, _ = s.accept(); c.sendall(b"x"); print(a.recv(1))
EOF
got=$(cd "$base" && python3 -c '
import os, socket, sys
s = socket.create_server(("127.0.0.1", 0)); os.dup2(s.fileno(), 9); os.set_inheritable(9, True)
os.execv(sys.argv[1], [sys.argv[1], "-q", "--keep-fd", "9", "python3", "inner.py"])' "$cordon" 2>&1)
[ "$got" = "b'x'" ] || echo "# $got"
[ "$got" = "b'x'" ]
result $? 'a listener that the command is started with'
finish

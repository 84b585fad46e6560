#!/bin/bash
# Node.js and npm inside give the same as outside.
# shellcheck disable=SC2034 # what is set before a case is read by work_lib.sh
# shellcheck source=tests/live/work_lib.sh
. "$(dirname "$0")/work_lib.sh"

unread='.*\.tgz' differs='s/^npm notice.*//; /^$/d; s/[0-9]+ms/MS/g; s/debug-[0-9]+\.log/LOG/; s/[0-9T_-]+Z/TIME/'
work 'npm init, npm run with pre and post scripts, npm pack' npm node <<'EOF'
export npm_config_update_notifier=false; npm init -y; npm pkg set scripts.build='node build.js' scripts.prebuild='mkdir -p out' scripts.postbuild='cat out/x' scripts.fail='exit 4' scripts.test='npm run -s build && echo $npm_lifecycle_event'
echo 'require("fs").writeFileSync("out/x", process.env.npm_package_name + "\n")' >build.js
npm run build; npm test; npm run -s fail; echo $?; npm_config_cache=$PWD/cache npm pack --silent; rm -rf cache
EOF

prepare='mkdir -p dep; printf "{\"name\":\"dep\",\"version\":\"1.0.0\",\"bin\":{\"dep\":\"d.js\"},\"scripts\":{\"install\":\"node -e 1\"}}" >dep/package.json; printf "#!/usr/bin/env node\nconsole.log(\"dep\")\n" >dep/d.js; chmod +x dep/d.js'
differs='s/in [0-9]+m?s/in TIME/; s/^npm notice.*//; /^$/d'
work 'npm install of a local package, with a cache in the project, npx' npm node <<'EOF'
export npm_config_cache=$PWD/cache npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false; npm init -y >/dev/null; npm install ./dep 2>&1; npx --no dep; node_modules/.bin/dep; npm ci --offline 2>&1; ls node_modules; rm -rf cache
EOF

work 'fs: promises, streams, watch, cp, mkdtemp, opendir, symlinks, utimes' node <<'EOF'
cat >x.mjs <<'X'
import fs from 'fs'; import os from 'os'; import path from 'path'; import { pipeline } from 'stream/promises'; import zlib from 'zlib';
const p = fs.promises, t = async (n, f) => { try { console.log(n, await f()); } catch (e) { console.log(n, e.code, e.syscall); } };
await p.mkdir('a/b/c', { recursive: true }); await p.writeFile('a/f', 'x'.repeat(100000)); await p.appendFile('a/f', 'y'); await p.copyFile('a/f', 'a/g', fs.constants.COPYFILE_FICLONE);
await t('excl', () => p.copyFile('a/f', 'a/g', fs.constants.COPYFILE_EXCL)); await p.symlink('../f', 'a/b/l'); await p.link('a/f', 'a/h'); await p.chmod('a/g', 0o600); await p.utimes('a/g', 1, 2); await p.lutimes('a/b/l', 3, 4);
await t('stat', async () => { const s = await p.stat('a/g'); return [s.mode, s.size, s.mtimeMs, s.nlink]; }); await t('lstat', async () => (await p.lstat('a/b/l')).mtimeMs);
await p.cp('a', 'copy', { recursive: true, preserveTimestamps: true }); fs.cpSync('a', 'copy2', { recursive: true, verbatimSymlinks: true }); await p.rename('copy2', 'moved'); await t('rename', () => p.rename('none', 'x'));
const w = fs.watch('a'), seen = new Promise(r => w.once('change', (e, f) => r([e, f]))); await p.writeFile('a/new', '1'); console.log(await seen); w.close();
await pipeline(fs.createReadStream('a/f'), zlib.createGzip(), fs.createWriteStream('a/f.gz')); await pipeline(fs.createReadStream('a/f.gz'), zlib.createGunzip(), fs.createWriteStream('a/f2')); console.log(fs.readFileSync('a/f2').equals(fs.readFileSync('a/f'))); fs.unlinkSync('a/f.gz');
const d = await p.mkdtemp(path.join(os.tmpdir(), 'n-')); await p.writeFile(path.join(d, 'x'), '1'); await p.rm(d, { recursive: true }); console.log(fs.existsSync(d));
const h = await p.open('a/rw', 'w+'); await h.write('hello'); await h.truncate(3); await h.sync(); await h.chmod(0o640); await h.utimes(5, 6); console.log((await h.read(Buffer.alloc(9), 0, 9, 0)).bytesRead); await h.close();
for await (const e of await p.opendir('a')) if (e.isSymbolicLink()) console.log(e.name); console.log((await p.readdir('a', { recursive: true })).sort().join()); await t('rmdir', () => p.rmdir('a')); await t('open', () => p.open('a/none')); await t('mk', () => p.mkdir('a')); await t('wx', () => p.writeFile('a/f', '', { flag: 'wx' })); await t('unlink', () => p.unlink('a/b'));
await t('access', () => p.access('a/g', fs.constants.W_OK)); await t('real', async () => path.relative('.', await p.realpath('a/b/l'))); await t('link', () => p.readlink('a/b/l')); await p.rm('moved', { recursive: true, force: true }); fs.rmSync('copy', { recursive: true });
await Promise.all([...Array(100).keys()].map(i => p.writeFile('a/many' + i, '' + i))); await Promise.all([...Array(100).keys()].map(i => i % 2 ? p.unlink('a/many' + i) : p.rename('a/many' + i, 'a/b/many' + i)));
X
node x.mjs
EOF

work 'child_process, cluster, worker_threads, signals' node <<'EOF'
cat >x.js <<'X'
const cp = require('child_process'), { Worker, isMainThread, parentPort } = require('worker_threads'), fs = require('fs');
if (!isMainThread) { parentPort.on('message', n => { fs.writeFileSync('w' + n, '' + n); parentPort.postMessage(n * 2); }); return; }
if (process.argv[2] === 'child') { process.on('message', m => { process.send({ got: m }); process.disconnect(); }); return; }
(async () => {
	console.log(cp.execSync('echo sh; cat', { input: 'in' }).toString(), cp.spawnSync('sh', ['-c', 'echo err >&2; exit 3']).status); try { cp.execFileSync('none'); } catch (e) { console.log(e.code); }
	await new Promise(r => cp.exec('kill -9 $$', e => { console.log(e.signal); r(); })); const s = cp.spawn('sleep', ['9']); setTimeout(() => s.kill('SIGTERM'), 50); await new Promise(r => s.on('exit', (c, g) => { console.log(c, g); r(); }));
	const f = cp.fork(__filename, ['child']); f.send({ a: 1 }); await new Promise(r => f.on('message', m => { console.log(m); }).on('exit', c => { console.log(c); r(); }));
	const f2 = cp.fork(__filename, ['child'], { serialization: 'advanced' }); f2.send(new Map([[1, 2]])); await new Promise(r => f2.on('message', m => console.log(m)).on('exit', r));
	await Promise.all([1, 2, 3].map(n => new Promise(r => { const w = new Worker(__filename); w.postMessage(n); w.on('message', m => { console.log('worker', m === n * 2); w.terminate().then(r); }); })));
	const b = cp.spawn('sh', ['-c', 'cat <&3 >&4'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] }); b.stdio[3].end('fd3'); b.stdio[4].on('data', d => console.log('' + d)); await new Promise(r => b.on('close', r));
	process.once('SIGUSR2', () => { console.log('usr2'); process.exit(5); }); process.kill(process.pid, 'SIGUSR2'); setTimeout(() => {}, 5000);
})();
X
node x.js; echo $?; node -e 'process.stdout.write("x".repeat(200000))' | wc -c; echo 'console.log(require("os").cpus().length > 0, process.cwd().length > 1)' | node -; node -p 1+1; printf 'import { test } from "node:test"; test("a", () => {}); test("b", t => t.test("c", () => {}));\n' >t.test.mjs; node --test --test-reporter=tap t.test.mjs 2>&1 | grep -c '^ *ok'; node --check x.js; node --watch-path=. -e 1 2>/dev/null & sleep 0.3; kill $! 2>/dev/null; wait
EOF

differs='s/\(node:[0-9]+\)/(node)/'
work 'net: servers and clients over Unix sockets' node <<'EOF'
cat >x.js <<'X'
const net = require('net'), http = require('http'), fs = require('fs'), path = require('path');
(async () => {
	const s = net.createServer(c => c.pipe(c)); await new Promise(r => s.listen('echo.sock', r)); console.log(fs.statSync('echo.sock').isSocket());
	await Promise.all([...Array(10).keys()].map(i => new Promise(r => { const c = net.connect('echo.sock'); c.end('m' + i); let d = ''; c.on('data', x => d += x).on('end', () => { console.log(d === 'm' + i); r(); }); })));
	const busy = net.createServer(); await new Promise(r => busy.on('error', e => { console.log(e.code); r(); }).listen('echo.sock')); s.close(); await new Promise(r => s.on('close', r)); console.log(fs.existsSync('echo.sock'));
	await new Promise(r => net.connect('echo.sock').on('error', e => { console.log(e.code); r(); })); fs.writeFileSync('file', ''); await new Promise(r => net.connect('file').on('error', e => { console.log(e.code); r(); }));
	const h = http.createServer((q, a) => a.end(q.url)); await new Promise(r => h.listen('\0work-' + process.pid, r)); await new Promise(r => http.get({ socketPath: '\0work-' + process.pid, path: '/abc' }, a => a.on('data', d => { console.log('' + d); r(); }))); h.close();
	const long = path.resolve('x'.repeat(120)); await new Promise(r => net.createServer().on('error', e => { console.log(e.code); r(); }).listen(long, () => r(console.log('listens'))));
})();
X
timeout 100 node x.js; echo $?
EOF
finish

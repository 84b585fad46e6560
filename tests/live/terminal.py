"""
Drives an interactive bash on a pseudo-terminal by a list of lines, and prints what the terminal shows. "terminal.py SCENE",
with a program "run" on the PATH, which starts its arguments, confined or not: both must look the same.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PROMPT = 'PROMPT> '


class Screen:
    def __init__(self, argv):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            self.master = 0
            self.resize(100, 400)
            os.environ.update(PS1=PROMPT, TERM='dumb', HISTFILE='')
            os.execvp(argv[0], argv)
        self.seen = ''

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def expect(self, pattern, limit=100):
        end = time.time() + limit
        while True:
            found = re.search(pattern, self.seen, re.S)
            if found:
                text, self.seen = self.seen[:found.end()], self.seen[found.end():]
                return text
            ready = select.select([self.master], [], [], max(0, end - time.time()))[0]
            try:
                more = os.read(self.master, 65536) if ready else b''
            except OSError:
                more = b''
            if not more:
                text, self.seen = self.seen, ''
                return f'NOT SEEN {pattern!r}: {text}'
            self.seen += more.decode(errors='replace')

    def close(self):
        os.kill(self.pid, signal.SIGHUP)
        os.close(self.master)
        os.waitpid(self.pid, 0)


def foreground(screen, name):
    """Waits until a process of that name has the terminal, and sleeps or reads."""
    for _ in range(2000):
        group = struct.unpack('i', fcntl.ioctl(screen.master, termios.TIOCGPGRP, b'\0' * 4))[0]
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
                    comm, rest = f.read().split('(', 1)[1].rsplit(')', 1)
            except OSError:
                continue
            if comm == name and int(rest.split()[2]) == group and rest.split()[0] == 'S':
                return
        time.sleep(0.02)


# A step: what is typed, and what then has to be seen; or a function of the screen.
def jobs(run):
    # The shell tells of a stop before a prompt; so that it is always this one:
    till = 'while [ "$(jobs -r)" ]; do sleep .05; done; jobs\n'
    stopped = 'Stopped.*' + PROMPT
    return [
        (f'{run}sleep 100\n', '\n'), (lambda s: foreground(s, 'sleep'), ''), ('\x1a', PROMPT), ('jobs\n', PROMPT),
        ('fg\n', '\n'), (lambda s: foreground(s, 'sleep'), ''), ('\x03', PROMPT), ('echo $?\n', PROMPT),
        (f'{run}sleep 100\n', '\n'), (lambda s: foreground(s, 'sleep'), ''), ('\x1c', PROMPT), ('echo $?\n', PROMPT),
        (f'{run}sleep 100 &\n', PROMPT), ('kill -STOP %1; ' + till, stopped),
        ('kill -CONT %1; jobs -r\n', 'Running.*' + PROMPT), ('kill %1; wait %1; echo $?\n', '143.*' + PROMPT),
        (f'{run}cat & ' + till, stopped), ('fg\n', '\n'), (lambda s: foreground(s, 'cat'), ''),
        ('hello\n', 'hello.*hello'), ('\x04', PROMPT),
        (f'{run}sh -c "kill -STOP \\$\\$; echo back"\n', stopped), ('jobs\n', PROMPT), ('fg\n', 'back.*' + PROMPT),
        (f'{run}sleep 100 | cat\n', '\n'), (lambda s: foreground(s, 'sleep'), ''), ('\x1a', PROMPT), ('bg\n', PROMPT),
        ('jobs\n', PROMPT), ('kill -INT %1; wait %1\n', PROMPT),
        ('stty tostop\n', PROMPT), (f'{run}echo out & ' + till, stopped), ('fg\n', PROMPT),
        ('stty -tostop\n', PROMPT), (f'sh -c "{run}sh -c \'exit 3\'; echo status \\$?"\n', 'status 3.*' + PROMPT),
        (f'for i in 1 2; do {run}sleep 100; done\n', '\n'), (lambda s: foreground(s, 'sleep'), ''), ('\x03', PROMPT),
        ('echo end\n', 'end.*' + PROMPT)]


def resized(screen):
    screen.resize(33, 77)


def shell(run):
    """An interactive shell itself under "run", with jobs of its own."""
    return [(f'{run}bash --norc -i\n', PROMPT)] + jobs('') + [
        ("trap 'echo changed' WINCH; stty size\n", PROMPT), (resized, ''), ('echo; stty size\n', '33 77.*' + PROMPT),
        ('tty | tr -d 0-9; test -t 0; echo $?\n', PROMPT),
        ('echo to the terminal >/dev/tty; stty size </dev/tty\n', PROMPT), ('setsid -w sh -c ": </dev/tty"\n', PROMPT),
        ('head -n 1\n', '\n'), (lambda s: foreground(s, 'head'), ''), ('typed\n', 'typed.*typed.*' + PROMPT), ('sleep 100 & disown; kill $!\n', PROMPT),
        ('exit 5\n', PROMPT), ('echo $?\n', '5.*' + PROMPT)]


SCENES = {'jobs': jobs, 'shell': shell}


def shown(text):
    """What was said, without where the cursor stood: what is typed shows before or after a prompt, as the shell comes to it."""
    text = re.sub(r'\b\d{2,7}\b', 'N', text.replace('\r', '\n').replace(PROMPT, '\n'))
    text = re.sub(r'(\^[CZD\\])', r'\n\1\n', text)
    lines = [line.strip() for line in text.split('\n') if line.strip()]
    # The shell tells of a stop once or twice, as it happens to see it.
    return '\n'.join(line for i, line in enumerate(lines) if i == 0 or line != lines[i - 1])


def main():
    screen = Screen(['bash', '--norc', '-i'])
    text = screen.expect(PROMPT)
    for act, pattern in SCENES[sys.argv[1]]('run '):
        if callable(act):
            act(screen)
        else:
            os.write(screen.master, act.encode())
        text += screen.expect(pattern)
    print(shown(text))
    screen.close()


main()

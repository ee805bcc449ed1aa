# Runs a program in a real terminal of its own: `in-terminal.py <columns> <program> [arguments]`. What comes in is typed, what
# the terminal gets goes out. Ends with the program, and with its exit code; the program ends with this one's input.

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios

columns, *program = sys.argv[1:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))


def take_terminal():
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)


child = subprocess.Popen(
    program,
    stdin=theirs,
    stdout=theirs,
    stderr=theirs,
    start_new_session=True,
    preexec_fn=take_terminal,
)
os.close(theirs)
inputs = [ours, 0]
while ours in inputs:
    for each in select.select(inputs, [], [])[0]:
        try:
            data = os.read(each, 65536)
        except OSError:
            data = b""  # Linux: nobody has the other end open any more
        if each == ours and data:
            os.write(1, data)
        elif each == ours:
            inputs.remove(ours)
        elif data:
            os.write(ours, data)
        else:
            inputs.remove(0)
            child.terminate()
sys.exit(child.wait())

"""Prints what an interactive shell makes of the beginning of a line and a tab, for each of several lines.

Usage: complete.py bash|zsh SCRIPT LINE...    where SCRIPT is what `coldpress completion` prints; exits with 3 without
                                              the shell. It works in the script's folder. zsh finds the script by its
                                              name, _coldpress.
"""
import os
import pty
import re
import shutil
import sys

shell, script, lines = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
if not shutil.which(shell):
    sys.exit(3)
os.chdir(os.path.dirname(script))

start = {
    "bash": f"source '{script}'",
    "zsh": f"fpath=('{os.path.dirname(script)}' $fpath); autoload -U compinit; compinit -u -D; bindkey -e",
}[shell]
options = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]


def read_until(terminal, pattern):
    """What the shell has written up to the pattern, or all of it if the shell ends."""
    text = ""
    while not re.search(pattern, text):
        try:
            text += os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            sys.exit(f"{shell} ended: {text}")
    return text


for line in lines:
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="dumb", INPUTRC="/dev/null", PS1="$ ", HISTFILE="")
        os.execvp(shell, [shell, *options])
    # The shell echoes what it reads, so the words that end a wait are put together by the shell alone.
    os.write(terminal, f"{start}; echo rea''dy\n".encode())
    read_until(terminal, "ready")
    # Then the line becomes the argument of echo: control-A goes to its beginning, control-E to its end.
    os.write(terminal, line.encode() + b"\t\x01echo \"be''gin:\x05:en''d\"\n".replace(b"''", b"\"\""))
    found = re.search(r"begin:(.*?):end", read_until(terminal, r"begin:(.*?):end"))
    print(found[1].rstrip())
    os.close(terminal)
    os.waitpid(process, 0)

#!/usr/bin/env python3
# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Rate and latency of tagged messages without MPI, by the tools that come with UCX (ucx_perftest) and
libfabric (fabtests): two processes of one thread each. tsm-bench measures those that are installed.

As a program it makes one such run and prints a JSON line: TOOL rate|latency BYTES WINDOW SECONDS."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
sys.dont_write_bytecode = True
from driver import child  # noqa: E402

HOST = "127.0.0.1"
FIRST = 1000        # messages of the run that shows how many the seconds have room for
LEAST, MOST = 100, 100_000_000
STARTS, PAUSE = 100, 0.1    # how often, and how long apart, the second process tries to reach the first
UNITS = {"rate": "million messages/s", "latency": "us one way"}


def ucx(mode, size, window, count, ports):
    """(the command of the first process, of the second)"""
    first = ["ucx_perftest", "-p", str(ports[0])]
    return first, [*first, "-t", "tag_bw" if mode == "rate" else "tag_lat", "-s", str(size), "-n",
                   str(count), "-O", str(window), "-w", str(LEAST), "-f", "-v", HOST]


def ucx_result(mode, text):
    """The line has iterations, four latencies (percentile, average, overall in us), two bandwidths and
    two rates; the names of the columns are in the line before it."""
    lines = [line.split(",") for line in text.splitlines() if line.count(",") > 3]
    if len(lines) < 2:
        return None
    found = dict(zip(lines[-2], lines[-1]))
    name = "overall_mr" if mode == "rate" else "overall_lat"
    return float(found[name]) / (1e6 if mode == "rate" else 1) if name in found else None


def fabtests(mode, size, window, count, ports):
    """libfabric chooses among its providers by FI_PROVIDER; without it, shared memory."""
    words = ["fi_rdm_tagged_bw" if mode == "rate" else "fi_rdm_tagged_pingpong", "-s", HOST, "-S",
             str(max(size, 1)), "-I", str(count), "-w", str(LEAST)]
    words += [] if os.environ.get("FI_PROVIDER") else ["-p", "shm"]
    words += ["-W", str(window)] if mode == "rate" else []
    return ([*words, "-B", str(ports[0])],
            [*words, "-B", str(ports[1]), "-P", str(ports[0]), "-m", HOST])


def fabtests_result(mode, text):
    found = re.search(r"usec/xfer: ([\d.]+), Mxfers/sec: ([\d.]+)", text)
    return float(found.group(2 if mode == "rate" else 1)) if found else None


# name: (a program of it, its commands, its result)
TOOLS = {"ucx_perftest": ("ucx_perftest", ucx, ucx_result),
         "fabtests": ("fi_rdm_tagged_bw", fabtests, fabtests_result)}


class Tool:
    """What is measured like a library, at one thread."""
    kind = "network"

    def __init__(self, name, built=None):
        self.name, self.built = name, built

    def command(self, mode, size, window, seconds):
        """window: the words of the option -w, or none."""
        return [sys.executable, os.path.abspath(__file__), self.name, mode, str(size),
                window[-1] if window else "64", str(seconds)]

    def record(self):
        return {"library": self.name, "version": None, "device": None, "build": self.built,
                "model": None, "lock": None, "env": {}}


def files(program):
    """The program and the library that it loads."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, errors="replace",
                          check=False)
    return [program, *re.findall(r"\blib(?:ucp|fabric)\.so\S* => (/\S+)", done.stdout)]


def installed(tell, build_of):
    """The tools that are there and can send here; tell(text) says which cannot. build_of: a name for
    the bytes of files."""
    found, there = [], {name: shutil.which(program) for name, (program, *_) in TOOLS.items()}
    for tool in [Tool(name, build_of("", files(path))) for name, path in there.items() if path]:
        status, _, err = child.run(tool.command("rate", 8, [], 0.01), None, 30)
        if status == 0:
            found.append(tool)
        else:
            reason = "no end within 30 s" if status is None else (err.strip().splitlines() or ["?"])[-1]
            tell(f"{tool.name} is left out: {reason}")
    return found


# ---- the program ----

def free_ports():
    """Two ports that nobody listens on."""
    with socket.socket() as a, socket.socket() as b:
        for s in (a, b):
            s.bind((HOST, 0))
        return a.getsockname()[1], b.getsockname()[1]


def talk(first, second):
    """What the second process prints; it is started again until the first listens."""
    with subprocess.Popen(first, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(STARTS):
                done = subprocess.run(second, capture_output=True, text=True, errors="replace",
                                      check=False)
                if done.returncode == 0 or server.poll() is not None:
                    break
                time.sleep(PAUSE)
        finally:
            try:
                server.wait(0 if done.returncode else 10)
            except subprocess.TimeoutExpired:
                server.kill()
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"{second[0]} failed"]
        sys.exit(said[-1])
    return done.stdout


def measured(name, mode, size, window, count):
    _, commands, result = TOOLS[name]
    value = result(mode, talk(*commands(mode, size, window, count, free_ports())))
    if not value or value < 0:
        sys.exit(f"{name} printed no result")
    return value


def main(name, mode, size, window, seconds):
    size, window = int(size), int(window)
    value = measured(name, mode, size, window, FIRST)
    each = 1 / value if mode == "rate" else 2 * value       # us
    count = round(float(seconds) * 1e6 / each)
    value = measured(name, mode, size, window, min(max(count, LEAST), MOST))
    print(json.dumps({"bench": name, "mode": mode, "bytes": size, "value": value,
                      "unit": UNITS[mode]}))


if __name__ == "__main__":
    main(*sys.argv[1:])

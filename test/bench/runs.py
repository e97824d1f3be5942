# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Tests for test/bench/driver: what is left of runs that are ended, what libraries print in them."""
import os
import signal
import subprocess
import time

from driver import catalog, library, records

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(catalog.__file__)))
TOOL = os.path.join(BENCH, "tsm-bench")
# mpirun ends on SIGTERM, its child does not
HANG = '(trap "" TERM; exec sleep 60) >/dev/null 2>&1 & echo $! $$ >pids.new; mv pids.new pids; wait'
RECORD = '{"value": 7, "unit": "x", "bench": "b"}'


def pids(tests):
    """What a hanging library has written: its process and one that it has started."""
    for _ in range(200):
        if os.path.exists(tests.path("pids")):
            with open(tests.path("pids"), encoding="ascii") as f:
                found = f.read().split()
            os.remove(tests.path("pids"))
            return found
        time.sleep(0.05)
    return []


def is_left(pid):
    """Whether a process runs a second from now."""
    for _ in range(20):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return False
        except OSError:
            return False
        time.sleep(0.05)
    return True


def ended_by(tests, words, numbers, hangup):
    """(status, what is left) of a driver that gets these signals in a run; hangup: what SIGHUP does as
    it starts."""
    before = signal.signal(signal.SIGHUP, hangup)
    try:
        tool = subprocess.Popen([TOOL, *words], cwd=tests.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGHUP, before)
    with tool:
        found = pids(tests)
        for i, number in enumerate(numbers):
            if i:
                time.sleep(0.5)
                if tool.poll() is not None:     # the one before has ended it
                    break
            tool.send_signal(number)
        status = tool.wait(timeout=60)
    return status, [pid for pid in found if is_left(pid)] if len(found) == 2 else "no run"


def nothing_left(tests, fake):
    """Neither a run that takes too long nor a driver that is ended leaves processes behind."""
    words = fake(tests, "hanging", HANG)
    tests.tool(*words, "--timeout", "2")
    found = pids(tests)
    tests.tell("nothing is left after a timeout", len(found) == 2 and not any(map(is_left, found)),
               found)
    for title, numbers, hangup, wanted in (
            ("that is ended", [signal.SIGTERM], signal.SIG_DFL, 143),
            ("whose terminal is closed", [signal.SIGHUP], signal.SIG_DFL, 129),
            ("that goes on without terminal", [signal.SIGHUP, signal.SIGTERM], signal.SIG_IGN, 143)):
        tests.same(f"nothing is left of a driver {title}", ended_by(tests, words, numbers, hangup),
                   (wanted, []))


def talkative(tests, fake):
    """Libraries that print lines of their own, as MPIR_CVAR_DEBUG_SUMMARY and
    MPIR_CVAR_CH4_THREAD_SUMMARY make them: the result is found, and the build is the same."""
    record = f"echo '{RECORD}'"
    for name, text, wanted in (
            ("before", f"echo '==== Sizes ====\n17'; {record}", 7),
            ("behind", f"{record}; echo 'threads: rank 0: lockq'; echo '[1]'", 7),
            ("twice", f"{record}; {record}", None), ("never", "echo 'threads: rank 0'", None)):
        out = f"talks-{name}.jsonl"
        tests.tool(*fake(tests, "talks", text)[:-1], out)
        tests.same(f"a result beside other lines: {name}",
                   [r["value"] for r in records.load(tests.path(out)) if r["library"] == "talks"],
                   [wanted])
    fake(tests, "says", "exit 3")
    lib = library.Library("says", tests.path("says"))
    text = "echo 'begin of version'; echo 'MPI 1'; echo 'MPICH Device: x'; echo; echo 'end of version'"
    found = []
    for run in (text, f"echo '==== Sizes ===='; {text}; echo 'threads: rank 0'"):
        tests.script("says/bin/mpirun", run + "\n")
        lib.identify(tests.path("says-bin"))
        found.append((lib.version, lib.device, lib.built))
    tests.same("other lines change neither version nor build", found[1], found[0])
    tests.same("the version is read", found[0][:2], ("MPI 1", "x"))
    tests.same("builds have the names that they had before there were marks", found[0][2],
               library.build_of("MPI 1\nMPICH Device: x\n\n", []))

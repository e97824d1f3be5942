# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Tests for test/bench/driver: runs beside which other programs use the processors, and
bench/many-cores."""
import json
import os
import signal
import subprocess
import sys
import time

import runs
from driver import catalog, child, machine, records, report

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(catalog.__file__)))
# tsm-bench with another file in place of /proc/stat
WITH_STAT = ("import runpy, sys; sys.path[:0] = [sys.argv[1]]; from driver import machine; "
             "machine.STAT = sys.argv[2]; sys.argv = sys.argv[3:]; "
             "runpy.run_path(sys.argv[0], run_name='__main__')")
RECORD = 'echo "{\\"value\\": 1, \\"bench\\": \\"x\\", \\"unit\\": \\"M/s\\"}"'


def stat_of(user, idle):
    """A file like /proc/stat: jiffies of each processor that we may use; another one is busy."""
    cpus = sorted(os.sched_getaffinity(0))
    return "".join(f"cpu{cpu} {user} 0 0 {idle} 0 0 0 0 0 0\n" for cpu in cpus) + (
        f"cpu{cpus[-1] + 1} {9 * user} 0 0 0 0 0 0 0 0 0\nintr 1 2\n")


def write(tests, name, text):
    with open(tests.path(name), "w", encoding="ascii") as f:
        f.write(text)


def shares(tests):
    """What others have used, from made-up moments: (time, idle, counted, own)."""
    for after, wanted in (((10, 15, 20, 5), 0), ((10, 14, 20, 5), 0.05), ((10, 0, 20, 5), 0.75),
                          ((10, 19, 20, 5), 0), ((10, 0, 0, 5), None)):
        tests.same(f"share of others: {after}", machine.share_of_others(
            machine.Moment(0, 0, 0, 0), machine.Moment(*after), 2), wanted)
    tests.same("no share without a moment", machine.share_of_others(None, None, 2), None)
    tests.same("a busy run is of no other state",
               [machine.tags_beside((50, 50), (machine.Moment(0, 0, 0, 0), machine.Moment(
                   10, idle, 20, 0)), 0.05)["state"] for idle in (0, 1e9)], ["busy", "fast"])
    write(tests, "stat", stat_of(500, 100))
    count, before, machine.STAT = len(os.sched_getaffinity(0)), machine.STAT, tests.path("stat")
    try:
        now, machine.STAT = machine.moment(), tests.path("nowhere")
        tests.same("only our processors are read", (now.idle, now.counted), tuple(
            count * jiffies / os.sysconf("SC_CLK_TCK") for jiffies in (100, 600)))
        tests.same("no /proc/stat, no moment", machine.moment(), None)
    finally:
        machine.STAT = before


def dropped_runs(tests, fake):
    """In a run the processors are idle, or never, or nothing is counted."""
    for title, (user, idle), words, wanted in (
            ("idle", (0, 1000000), [], (0, "fast", 0)), ("busy", (1000, 0), [], (3, "busy", 1)),
            ("kept", (1000, 0), ["--busy", "1"], (0, "fast", 1)),
            ("uncounted", (0, 0), [], (0, "fast", None))):
        write(tests, "stat", stat_of(0, 0))
        write(tests, "stat-then", stat_of(user, idle))
        move = f"cp {tests.path('stat-then')} {tests.path('stat')}"
        run = [*fake(tests, title, f"sleep 0.3; {move}; {RECORD}"), *words, "--bin", "bench-bin"]
        done = subprocess.run([sys.executable, "-c", WITH_STAT, BENCH, tests.path("stat"),
                               os.path.join(BENCH, "tsm-bench"), *run], capture_output=True, text=True,
                              timeout=60, check=False, cwd=tests.folder)
        path = tests.path(f"{title}.jsonl")
        found = [r for r in records.load(path) if r["library"] == title] if os.path.exists(path) else []
        found = found[0] if found else {"state": None, "busy": None}
        share = found["busy"] if found["busy"] is None else round(found["busy"])
        tests.same(f"a run beside other programs: {title}",
                   (done.returncode, found["state"], share), wanted)
        said = "1 dropped, as other programs used the processors"
        tests.tell(f"the report of it: {title}", (said in done.stdout) == (wanted[1] == "busy"),
                   done.stdout + done.stderr)


def in_report(tests, record):
    """Such runs are no points, and are counted beside those of state mixed; medians have that, too."""
    found = [record("ours", 10 * (i + 1), i, state, busy=i / 10)
             for i, state in enumerate(("fast", "fast", "busy", "busy", "mixed"))]
    points = records.points_of(found)
    tests.same("points without busy runs", [(p["n"], p["value"]) for p in points], [(2, 15), (0, None)])
    tests.same("counts of dropped runs", [points[1][k] for k in ("failed", "dropped", "busy")],
               [0, 1, 2])
    write(tests, "beside.jsonl", "".join(json.dumps(r) + "\n" for r in found))
    tests.tool("condense", "beside.jsonl", "--command", "by hand")
    for name in ("beside.jsonl", "beside.medians"):
        lines = "\n".join(report.report(records.points_of(records.load(tests.path(name)))))
        word = ("1 dropped, as the machine's state changed within them; "
                "2 dropped, as other programs used the processors")
        tests.tell(f"a word in the report of {name}", word in lines, lines)


def many_cores(tests, prefix):
    """One short round of bench/many-cores, and its file in bench/scale's hands."""
    script = os.path.join(BENCH, "many-cores")
    for words, text in ((["--fly"], "unknown option"), (["--out", "x"], "--prefix"),
                        (["--out", "x", "--prefix", prefix, "--seconds", "0"], "'0' is not")):
        done = subprocess.run([script, *words], capture_output=True, text=True, check=False, timeout=30)
        tests.tell(f"many-cores refuses {words[-1]}", done.returncode == 2 and text in done.stderr
                   and len(done.stderr.splitlines()) == 1, done.stderr)
    out = tests.path("many-cores")
    os.makedirs(os.path.join(out, "bin"))
    tests.script("many-cores/bin/linelat", "echo 50\n")
    done = subprocess.run([script, "--prefix", prefix, "--out", out, "--seconds", "300", "--rounds",
                           "1", "--threads", "1,2", "--many", "2", "--duration", "0.02", "--busy", "1"],
                          capture_output=True, text=True, check=False, timeout=400)
    path = os.path.join(out, "many-cores.medians")
    points = records.load(path) if done.returncode == 0 else []
    tests.same("many-cores measures", {(p["benchmark"], p["threads"]) for p in points
                                       if p["library"] == "lockq"},
               {("pairs", 1), ("pairs", 2), ("fanin", 2), ("fanout", 2)})
    tests.tell("and names the comparison", f"scale --measured {path} --measured-cores " in done.stdout
               and os.path.exists(os.path.join(out, "linelat.txt")), done.stdout + done.stderr)
    words = [script, "--prefix", prefix, "--out", out, "--threads", "1", "--duration", "30"]
    for how in (("Ctrl-C", os.killpg, signal.SIGINT), ("SIGTERM", os.kill, signal.SIGTERM),
                ("its terminal", os.kill, signal.SIGHUP)):
        os.remove(os.path.join(out, "many-cores.jsonl"))
        interrupted(tests, words, *how)


def measuring(pid):
    """The processes of a measurement that it runs now."""
    found = ((p, child.stat_of(f"/proc/{p}")) for p in child.descendants(pid))
    return [p for p, name in found if name and name[0] == "msgrate"]


def interrupted(tests, words, name, send, number):
    """Ctrl-C, which a terminal sends to the whole group, SIGTERM to many-cores alone, and SIGHUP as its
    terminal is closed end it and what it runs."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as done:
        for _ in range(600):
            before = measuring(done.pid)
            if before:
                break
            time.sleep(0.1)
        send(done.pid, number)
        try:
            _, err = done.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            err = "goes on"
            child.end(done)
    tests.tell(f"many-cores ends with {name}", before and done.returncode == 128 + number
               and not any(map(runs.is_left, before)), f"{done.returncode}: {err}")

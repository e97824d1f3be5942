# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""The locks of src/sync, measured like libraries by a program of bench/sync, without MPI."""
import os
import subprocess

from driver.library import BENCH, build_of
from driver.records import Bad

# of figure 5 of TOPC, and our others
NAMES = ("pthread", "ticket", "clh", "clh_lpw", "mcs", "hmcs", "hyblock")


class Lock:
    kind = "lock"

    def __init__(self, name, folder, built):
        self.name, self.folder, self.built = name, folder, built

    def command(self, benchmark, threads, duration):
        return [os.path.join(self.folder, os.path.basename(benchmark.program)), *benchmark.options,
                "-l", self.name, "-t", str(threads), "-d", str(duration), "-r", "1"]

    def record(self):
        return {"library": self.name, "version": None, "device": None, "build": self.built,
                "model": None, "lock": self.name, "env": {}}


def build(parent, programs):
    """Compiles programs of bench/sync and returns the locks. Raises Bad."""
    folder = os.path.abspath(os.path.join(parent, "sync"))
    targets = [os.path.join(folder, os.path.basename(p)) for p in programs]
    done = subprocess.run(["make", "-s", "-C", os.path.join(BENCH, "sync"), "BUILD=" + folder,
                           *targets], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Bad(f"bench/sync does not compile:\n{done.stderr.strip()}")
    built = build_of("", targets)
    return [Lock(name, folder, built) for name in NAMES]

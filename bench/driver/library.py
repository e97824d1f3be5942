# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""A library as it is measured: a prefix, an environment, the programs compiled with it."""
import glob
import hashlib
import os
import re
import subprocess

from driver import child, network, peers
from driver.figures import FLOOR
from driver.records import Bad

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODEL_VARIABLE, LOCK_VARIABLE = "MPIR_CVAR_CH4_THREAD_CS", "MPIR_CVAR_CH4_THREAD_LOCK"
INHERITED = ("MPIR_CVAR_", "FI_", "UCX_", "OMPI_", "PRTE_", "I_MPI_", "HYDRA_", "CSP_")


def newest(program):
    """The time of the last change of a program's sources and the headers beside them."""
    files = [os.path.join(BENCH, program + ".c")]
    for folder in {BENCH, os.path.dirname(files[0])}:
        files += [os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".h")]
    return max(os.path.getmtime(f) for f in files)


def changed(path):
    """When a file of an installed library came there. An installation may keep an older time of the
    last change of the contents; 0 without the file."""
    try:
        there = os.stat(path)
    except (OSError, TypeError):
        return 0
    return max(there.st_mtime, there.st_ctime)


def library_file(program, prefix, env):
    """The file of the library itself: what a program loads in an environment, whose LD_LIBRARY_PATH may
    choose, else what is in prefix; None without."""
    try:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, errors="replace",
                              check=False, env=env)
        loaded = re.search(r"\blibmpi(?:ch)?\.so\S* => (/\S+)", done.stdout)
    except OSError:
        loaded = None
    found = sorted(glob.glob(os.path.join(glob.escape(prefix), "lib*", "libmpi.*")))
    return loaded.group(1) if loaded else next((f for f in found if not f.endswith(".la")), None)


def version_in(out):
    """What the library says about itself, without what its settings make it print before and after:
    what is between the marks of version.c, if they are there."""
    found = re.search(r"^begin of version\n(.*\n)end of version$", out, re.MULTILINE | re.DOTALL)
    return found[1] if found else out


def build_of(text, paths):
    """A short name of a build: what the library says about itself (of MPICH, the configure line too),
    and the bytes of its files."""
    digest = hashlib.sha256(text.encode(errors="replace"))
    for path in filter(None, paths):
        with open(path, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()[:12]


class Library:
    """name: unique in a comparison. env: what it needs on top of the caller's environment; own: the
    part of it that the user or the model has set, which results keep. untouched: the benchmarks that
    are not for this variant."""

    def __init__(self, name, prefix, own=None, kind=None):
        self.name, self.prefix, self.own = name, os.path.abspath(prefix), dict(own or {})
        if not peers.is_library(self.prefix):
            raise Bad(f"library '{name}': no bin/mpicc and bin/mpirun in {prefix}")
        self.kind = kind or peers.kind_of(self.prefix)
        self.env = {**peers.environment(self.kind, self.prefix), **self.own}
        self.version = self.device = self.model = self.lock = self.built = self.commit = None
        self.has_casper = self.has_stats = False
        self.untouched = ()

    def environment(self, more=None):
        return {**callers_environment(), **(more or {}), **self.env}

    def folder(self, parent):
        """One folder for each prefix: models of one library share their programs. The hash tells
        /a/b and /a-b apart."""
        real = os.path.realpath(self.prefix)
        return os.path.join(parent, real.strip("/").replace("/", "-") + "-"
                            + hashlib.sha256(os.fsencode(real)).hexdigest()[:8])

    def file(self, program):
        """That of the library, as this program loads it."""
        return library_file(program, self.prefix, self.environment())

    def program(self, parent, program):
        return os.path.join(self.folder(parent), program)

    def build(self, parent, program):
        """Compiles a program (a path in bench, without .c) if it is older than its sources or than the
        library."""
        to = self.program(parent, program)
        mpicc = os.path.join(self.prefix, "bin", "mpicc")
        if os.access(to, os.X_OK) and os.path.getmtime(to) >= max(
                newest(program), changed(mpicc), changed(self.file(to))):
            return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        # MPICH's own header makes gcc warn about MPI_STATUSES_IGNORE (stringop-overflow)
        command = [mpicc, "-std=gnu11", "-O2", "-Wall", "-Wno-stringop-overflow",
                   "-fopenmp" if program.startswith("apps/") else "-pthread", "-o", to,
                   os.path.join(BENCH, program + ".c")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  check=False, env=self.environment())
        except OSError as e:
            raise Bad(f"library '{self.name}': {command[0]} does not run: {e.strerror}") from None
        if done.returncode:
            raise Bad(f"library '{self.name}': {program}.c does not compile:\n{done.stderr}")

    def command(self, parent, program, processes):
        return [os.path.join(self.prefix, "bin", "mpirun"), "-n", str(processes),
                self.program(parent, program)]

    def processes(self, users):
        """Of a run: the users and the ghosts, which CSP_NG adds to each node; other libraries than
        casper's have none."""
        env = self.environment() if self.has_casper else {}
        nodes = 2 if env.get("MPIR_CVAR_ODD_EVEN_CLIQUES", "0") in ("1", "yes", "true") else 1
        try:
            return users + nodes * int(env.get("CSP_NG", "0"))
        except ValueError:
            raise Bad(f"library '{self.name}': CSP_NG is not a number") from None

    def identify(self, parent):
        """Asks the library for its version, by a program of one process, and for its model."""
        self.build(parent, "version")
        alone = {**self.environment(), "CSP_NG": "0"}       # a ghost would need a user
        status, out, err = child.run(self.command(parent, "version", 1), alone, 60)
        if status is None:
            raise Bad(f"library '{self.name}': a program of one process does not end")
        if status or not out.strip():
            reason = (err or out).strip().splitlines()[:1]
            raise Bad(f"library '{self.name}' cannot run a program: {' '.join(reason)}")
        out = version_in(out)
        text = " ".join(out.strip().splitlines()[0].split())
        self.version = re.sub(r"MPICH Version: ?", "MPICH ", text.split(", package")[0])
        device = re.search(r"MPICH Device:\s*(.+)", out)
        self.device = device.group(1).strip() if device else None
        self.built = build_of(out, [self.file(self.program(parent, "version"))])
        env = self.environment()        # with what is inherited: the library reads that too
        self.model, self.lock, self.commit, options = own_build(self.prefix, env)
        self.has_casper = has_option(options, "--enable-casper")
        self.has_stats = has_option(options, "--enable-thread-stats")
        if self.model == "runtime":
            # the library starts with the first row of the table
            self.model = env.get(MODEL_VARIABLE) or known_models("runtime")[0]
            self.lock = env.get(LOCK_VARIABLE) or lock_of(self.model, self.lock)
        elif self.model == "global":
            self.lock = env.get(LOCK_VARIABLE) or self.lock

    def record(self):
        """What a result says about the library."""
        return {"library": self.name, "version": self.version, "device": self.device,
                "build": self.built, "commit": self.commit, "model": self.model, "lock": self.lock,
                "env": self.own}


class Floor:
    """The shared-memory ring of floor.c: two processes without any MPI library."""
    name = FLOOR
    kind = None

    def __init__(self):
        self.command_name = None

    def build(self, parent):
        """Compiles it; returns False without a compiler."""
        os.makedirs(parent, exist_ok=True)
        self.command_name = os.path.join(parent, "floor")
        command = ["cc", "-std=gnu11", "-O2", "-Wall", "-o", self.command_name,
                   os.path.join(BENCH, "floor.c")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            return False
        return done.returncode == 0

    @staticmethod
    def record():
        return {"library": FLOOR, "version": None, "device": None, "build": None,
                "commit": None, "model": None, "lock": None, "env": {}}


def own_build(prefix, env=None):
    """(thread-safety model, lock, commit when it was configured, what mpichversion prints): the first
    ones are None if the library is not ours; so is the commit of one that does not print it. env: that
    of its runs."""
    try:
        done = subprocess.run([os.path.join(prefix, "bin", "mpichversion")], capture_output=True,
                              text=True, errors="replace", check=False,
                              env=env or callers_environment())
    except OSError:
        return None, None, None, ""
    found = re.search(r"^MPICH thread-cs:\s*([a-z-]+)(?:.*lock: ([a-z0-9-]+))?", done.stdout, re.M)
    commit = re.search(r"^MPICH Custom Information:\s*commit:(\S+)", done.stdout, re.M)
    return (*(found.groups() if found else (None, None)), commit and commit[1], done.stdout)


def has_option(text, option):
    """Whether a library was configured so; text: what mpichversion prints."""
    return re.search(re.escape(option) + r"(?!=no)(?![-\w])", text) is not None


def callers_environment():
    """Without LD_LIBRARY_PATH, which could exchange a library for another one."""
    return {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}


def inherited():
    """What the caller's environment has for the libraries; all runs get it."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(INHERITED)}


def table_of_models(*query):
    tool = os.path.join(os.path.dirname(BENCH), "maint", "models")
    return subprocess.run([tool, *query], capture_output=True, text=True, check=True).stdout


def known_models(subset=""):
    """The names in the table of models; subset "runtime": those of the runtime library."""
    return [name.strip() for name in table_of_models("names", *filter(None, [subset])).split(",")]


def known_locks():
    return [name.strip() for name in table_of_models("locks").split(",")]


def is_lock_fixed(model):
    """Whether the VCIs of this model of the runtime library have one lock, whatever the user names."""
    any_lock = [name.strip() for name in table_of_models("any-lock").split(",")]
    return model in known_models("runtime") and model not in any_lock


def lock_of(model, configured):
    """The lock of a model of a runtime library: that of its row in the table if it has one of its own,
    else the one with which the library was configured."""
    locks = re.findall(r"tsm_model=([\w-]+);.* tsm_lock=([\w-]+)", table_of_models("cases"))
    own = dict(locks).get(model, locks[0][1])
    return configured if own == locks[0][1] else own


def builds_of(prefixes):
    """The models of our libraries in prefixes: {model: [(name, prefix, environment)]}. Of two
    libraries with one model, the second is called MODEL-LOCK."""
    found, taken = {}, set()
    for prefix in prefixes:
        own, lock, *_ = own_build(prefix)
        if own is None:
            raise Bad(f"no library with a thread-safety model in {prefix} (bin/mpichversion)")
        for model in known_models("runtime") if own == "runtime" else [own]:
            of_model = lock_of(model, lock) if own == "runtime" else lock
            name = f"{model}-{of_model}" if model in taken else model
            if name in taken:
                raise Bad(f"{prefix}: there is a {name} already (--library gives any name)")
            taken.add(name)
            env = {MODEL_VARIABLE: model} if own == "runtime" else {}
            found.setdefault(model, []).append((name, prefix, env))
    return found


def models_of(prefixes, wanted, there_only, tell):
    """The models of our libraries in prefixes, as Libraries. wanted: the names of models, or None for
    all. there_only: models that no library has are left out; else that is an error unless all are
    wanted. tell(text) says what is left out."""
    there = builds_of(prefixes)
    missing = [model for model in wanted or known_models() if model not in there]
    if missing and wanted and not there_only:
        raise Bad(f"no model '{missing[0]}': the given libraries have {', '.join(there)}")
    if missing:
        tell(f"left out, as no given library has them: {', '.join(missing)}")
    return [Library(*build) for model in wanted or there for build in there.get(model, [])]


def with_locks(libs, locks, tell):
    """Each library as it is and, where the model lets the user choose a lock, as MODEL-LOCK with each
    of the locks. tell(text) says where it does not."""
    found = []
    for lib in libs:
        model = lib.own.get(MODEL_VARIABLE) or own_build(lib.prefix)[0]
        found.append(lib)
        if is_lock_fixed(model):
            tell(f"--locks has no effect on {lib.name}, whose VCIs have a lock of their own")
        elif model != "global" and not lib.own.get(MODEL_VARIABLE):
            tell(f"--locks has no effect on {lib.name}, whose lock configure has chosen")
        else:
            found += [Library(f"{lib.name}-{lock}", lib.prefix, {**lib.own, LOCK_VARIABLE: lock})
                      for lock in locks]
    return found


def with_variants(libs, variants, only):
    """Each library as it is and, as MODEL NAME, with each environment of {NAME: environment}. only:
    {benchmark: the names that it is for, if not for all}."""
    found = []
    for lib in libs:
        found.append(lib)
        for name, env in variants.items():
            found.append(Library(f"{lib.name} {name}", lib.prefix, {**lib.own, **env}))
            found[-1].untouched = [b for b, names in only.items() if name not in names]
    return found


def named_library(text):
    """The Library of NAME:PREFIX[:VAR=VAL,...]."""
    parts = text.split(":", 2)
    if len(parts) < 2 or not parts[0] or not parts[1]:
        raise Bad(f"library '{text}' is not NAME:PREFIX[:VAR=VAL,...]")
    if parts[0] == FLOOR:
        raise Bad(f"library '{FLOOR}': the name belongs to the ring in shared memory; give another")
    if parts[0] in network.TOOLS:
        raise Bad(f"library '{parts[0]}': the name belongs to a tool of the network; give another")
    own = {}
    for item in filter(None, parts[2].split(",") if len(parts) > 2 else []):
        var, eq, value = item.partition("=")
        if not var or not eq:
            raise Bad(f"library '{parts[0]}': '{item}' is not VAR=VAL")
        own[var] = value
    return Library(parts[0], parts[1], own)

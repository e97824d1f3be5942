# shellcheck shell=bash
# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
#
# Steps that maint/quickstart, maint/check and maint/check-* share. The caller sets root (this
# repository) and me (its name for messages); everything is made below _build/runtime and _install,
# unless the caller changes the three variables below.

# shellcheck disable=SC2154 # root and me come from the caller
build=$root/_build/runtime
prefix=$root/_install
configure_options="--enable-thread-cs=runtime --enable-casper --disable-fortran --disable-static"
configure_options+=" --prefix=$prefix"

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$me" "$*" >&2; exit 1; }
step() { printf '== %s\n' "$*"; }

# make and libtool take the words apart, and give them to a shell
# shellcheck disable=SC2154
case $root in
    *[[:space:],:\;\&\|\<\>\(\)\*\?\!\$\#\"\'\`\\]*)
        die "$root: the path must not have blanks, commas, colons or what a shell reads" ;;
esac

is_package() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

# need_packages NAME...: install missing packages, or print the command that does
need_packages() {
    local name missing=
    command -v dpkg-query >/dev/null || return 0  # not Debian: configure reports what is missing
    for name in "$@"; do
        is_package "$name" || missing="$missing $name"
    done
    [ -n "$missing" ] || return 0
    [ "$(id -u)" = 0 ] || die "packages are missing; as root: apt-get install$missing"
    step "installing$missing"
    mkdir -p "$root/_build"
    # shellcheck disable=SC2086 # a list of words
    { apt-get -q update && DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install $missing; } >"$root/_build/apt.log" 2>&1 || {
        tail -n 5 "$root/_build/apt.log" >&2
        die "apt-get install$missing failed (log: _build/apt.log)"
    }
}

need_build_packages() {
    need_packages build-essential autoconf automake libtool m4 perl python3 patch diffutils \
        xz-utils pkg-config ca-certificates curl \
        libfabric-dev librdmacm-dev libibverbs-dev libhwloc-dev
    # what Debian's libfabric asks the linker for; the packages exist for this architecture only
    if [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ]; then
        need_packages libpsm2-dev libpsm-infinipath1-dev
    fi
}

# Use ccache, if it is installed, through its folder of compiler names
use_ccache() {
    if [ -d /usr/lib/ccache ]; then PATH=/usr/lib/ccache:$PATH; fi
    export PATH
}

generate() {
    step "MPICH and our files (autogen.sh)"
    "$root/autogen.sh" "$@"
}

configure_runtime() {
    mkdir -p "$build"
    if [ -f "$build/.configured" ] && [ "$(cat "$build/.configured")" = "$configure_options" ] &&
        [ ! "$root/configure" -nt "$build/.configured" ] &&
        [ ! "$root/modules/mpich/configure" -nt "$build/.configured" ]; then
        return
    fi
    step "configure $configure_options (about 2 minutes on two cores; without Fortran, for speed)"
    rm -f "$build/.configured"
    # shellcheck disable=SC2086 # a list of words
    if ! (cd "$build" && "$root/configure" $configure_options) >"$build/configure.log" 2>&1; then
        tail -n 15 "$build/configure.log" >&2
        die "configure failed (log: ${build#"$root"/}/configure.log)"
    fi
    sed -n '/^MPICH-TSM /,$p' "$build/configure.log"
    printf '%s' "$configure_options" >"$build/.configured"
}

progress_line() {
    printf '%s objects done, %d s' \
        "$(grep -cE '^ +(CC|CXX|GEN|CCLD|CXXLD) ' "$build/make.log")" $((SECONDS - $1))
}

# Wait for process $1 and show the progress of make: continuously on a terminal, else every 30 s.
show_progress() {
    local begin=$SECONDS next=$((SECONDS + 30))
    while kill -0 "$1" 2>/dev/null; do
        if [ -t 1 ]; then
            printf '\r   %s ' "$(progress_line "$begin")"
        elif [ $SECONDS -ge $next ]; then
            printf '   %s\n' "$(progress_line "$begin")"
            next=$((SECONDS + 30))
        fi
        sleep 1
    done
    if [ -t 1 ]; then printf '\n'; else printf '   %s\n' "$(progress_line "$begin")"; fi
}

# A hash of everything the library is built from. While it stays the same, nothing is compiled.
source_stamp() {
    {
        cat "$root"/modules/mpich/.tsm/{grafted,build,cvars} "$build/.configured"
        # edits made in the tree itself
        find "$root/modules/mpich/src" -name '*.[ch]' -newer "$build/.configured" -print0 |
            LC_ALL=C sort -z | xargs -0 -r sha256sum
    } | sha256sum | cut -d' ' -f1
}

build_runtime() {
    local now job
    now=$(source_stamp)
    if [ -x "$prefix/bin/mpicc" ] && [ "$(cat "$build/.built" 2>/dev/null)" = "$now" ]; then
        say "   the library in ${prefix#"$root"/} is up to date"
        return
    fi
    step "make -j$(nproc) and install into ${prefix#"$root"/} (log: ${build#"$root"/}/make.log)"
    rm -f "$build/.built"
    set -m  # a process group, so that all of it can be stopped
    (make -C "$build" -j"$(nproc)" V=0 && make -C "$build" install V=0) \
        >"$build/make.log" 2>&1 </dev/null &
    job=$!
    set +m
    # shellcheck disable=SC2064 # the job of now
    trap "kill -- -$job 2>/dev/null; exit 130" INT TERM
    show_progress $job
    trap - INT TERM
    if ! wait $job; then
        tail -n 40 "$build/make.log" >&2
        die "make failed (log: ${build#"$root"/}/make.log)"
    fi
    printf '%s' "$now" >"$build/.built"
}

make_library() {
    need_build_packages
    use_ccache
    generate "$@"
    configure_runtime
    build_runtime
}

# need_tests NAME...: they must be in test/mpi/testlist
need_tests() {
    local name
    for name in "$@"; do
        awk -v name="$name" '!/^#/ && $1 == name { found = 1 } END { exit !found }' \
            "$root/test/mpi/testlist" || die "no test named '$name' in test/mpi/testlist"
    done
}

# counted LOG COMMAND...: run it and add the numbers of its last line to passed and failed, which the
# caller sets, as it does pipefail
counted() {
    local log=$1 rc=0 last p f
    shift
    "$@" 2>&1 </dev/null | tee "$log" || rc=$?
    last=$(grep -oE '[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1) || true
    p=$(echo "$last" | cut -d' ' -f1)
    f=$(echo "$last" | cut -s -d' ' -f3)
    p=${p:-0} f=${f:-0}
    if [ $((p + f)) -eq 0 ] || { [ $rc -ne 0 ] && [ "$f" -eq 0 ]; }; then f=$((f + 1)); fi
    passed=$((passed + p)) failed=$((failed + f))
}

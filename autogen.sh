#!/bin/bash
# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
#
# Get MPICH, graft our files onto it and generate what configure and make need. Run it after a
# clone and after every change below src/; it only redoes what is out of date.

set -eu
root=$(cd "$(dirname "$0")" && pwd)
tree=$root/modules/mpich
log=$root/modules/.autogen.log

die() { printf 'autogen.sh: %s\n' "$*" >&2; exit 1; }

usage() {
    cat <<'END'
usage: ./autogen.sh [--with-mpich-source=DIR|TARBALL]
       MPICH_TARBALL=DIR|TARBALL ./autogen.sh     the same

Fetches the pinned MPICH release into modules/mpich (maint/fetch), grafts our files and patches
onto it (maint/graft) and generates the build system with autoconf, automake and libtool.
END
}

check_tools() {
    local missing=
    need() { command -v "$1" >/dev/null || missing="$missing $2"; }
    need autoconf autoconf
    need automake automake
    need libtoolize libtool
    need m4 m4
    need perl perl
    need python3 python3
    need patch patch
    need diff diffutils
    need xz xz-utils
    [ -z "$missing" ] || die "programs are missing: apt-get install$missing"
}

# Run a command with its output in the log; on failure show the end of it.
logged() {
    if ! "$@" >>"$log" 2>&1; then
        tail -n 20 "$log" >&2
        die "$(basename "$1") failed in $PWD (all of it: modules/.autogen.log)"
    fi
}

# Sources of MPICH's own build system (its embedded modules keep their configure scripts).
build_inputs() {
    find . \( -path ./modules -o -path ./test -o -path ./.tsm -o -path ./autom4te.cache \) -prune \
        -o -type f \( -name '*.ac' -o -name '*.m4' -o -name '*.mk' -o -name Makefile.am \) \
        ! -name aclocal.m4 -print0 | LC_ALL=C sort -z
}

cvar_inputs() {
    grep -rlZ --include='*.[ch]' BEGIN_MPI_T_CVAR_INFO_BLOCK src/mpi src/mpi_t src/nameserv \
        src/util src/binding src/include src/mpid src/pmi | LC_ALL=C sort -z
}

tables() {
    printf '%s\0' "$root/maint/models" "$root/src/ch4/models.def" "$root/src/sync/lock/locks.def"
}

hash_of() { { "$1"; tables; } | xargs -0 sha256sum | sha256sum | cut -d' ' -f1; }

is_done() { [ "$(cat ".tsm/$1" 2>/dev/null)" = "$2" ]; }

outputs() { printf '%s\0' aclocal.m4 configure src/include/mpichconf.h.in Makefile.in; }

# Same inputs, but one of them was written again: make must not run autotools for that.
refresh_times() {
    [ -n "$(build_inputs | xargs -0 -I{} find {} -newer Makefile.in)" ] || return 0
    touch Makefile.in
    outputs | xargs -0 touch -r Makefile.in
}

generate_build_system() {
    local sum
    sum=$(hash_of build_inputs)
    if is_done build "$sum"; then
        refresh_times
        return
    fi
    echo "mpich: autoreconf (half a minute)"
    rm -f .tsm/build
    logged autoreconf -f --no-recursive -I confdb
    touch Makefile.in
    outputs | xargs -0 touch -r Makefile.in
    echo "$sum" >.tsm/build
}

# MPICH's own script, made from its template: the ready one in the release has the paths of the
# machine on which the release was made.
generate_cvars() {
    local sum file
    sum=$(hash_of cvar_inputs)
    if is_done cvars "$sum"; then return; fi
    echo "mpich: control variables"
    rm -f .tsm/cvars
    mkdir -p .tsm/new
    sed "s,@PERL@,perl,g; s,@abs_srcdir@,$tree/maint,g" maint/extractcvars.in >.tsm/extractcvars
    logged perl .tsm/extractcvars --header=.tsm/new/mpir_cvars.h --c-file=.tsm/new/mpir_cvars.c \
        --readme-file=.tsm/new/README.envvar --dirs="src/mpi src/mpi_t src/nameserv src/util \
src/binding src/include src/mpid src/pmi"
    sed -i "s/@TSM_MODELS@/$("$root/maint/models" names)/
        s/@TSM_MODELS_RUNTIME@/$("$root/maint/models" names runtime)/
        s/@TSM_LOCKS@/$("$root/maint/models" locks)/
        s/@TSM_PROGRESS@/$("$root/maint/models" progress)/" .tsm/new/*
    for file in src/include/mpir_cvars.h src/util/mpir_cvars.c README.envvar; do
        cmp -s ".tsm/new/$(basename "$file")" "$file" || cp ".tsm/new/$(basename "$file")" "$file"
    done
    echo "$sum" >.tsm/cvars
}

generate_front_door() {
    local file
    for file in configure.ac Makefile.am maint/version.m4 maint/models src/ch4/models.m4 \
        src/ch4/device.m4 src/casper/casper.m4 src/ch4/models.def src/sync/lock/locks.def; do
        if [ ! -f Makefile.in ] || [ "$file" -nt configure ] || [ "$file" -nt Makefile.in ]; then
            echo "top level: autoreconf"
            logged autoreconf -fi --no-recursive
            return
        fi
    done
}

given=
for arg in "$@"; do
    case $arg in
        --with-mpich-source=*) given=$arg ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown option: $arg (try --help)" ;;
    esac
done
# make and libtool take the words apart, and give them to a shell
case $root in
    *[[:space:],:\;\&\|\<\>\(\)\*\?\!\$\#\"\'\`\\]*)
        die "$root: the path must not have blanks, commas, colons or what a shell reads" ;;
esac
check_tools
"$root/maint/fetch" ${given:+"$given"}
"$root/maint/graft"
: >"$log"
cd "$tree"
generate_cvars
generate_build_system
cd "$root"
generate_front_door
echo "autogen.sh: ready, now run ./configure (see ./configure --help)"

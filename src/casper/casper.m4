dnl Copyright (C) by the MPICH-TSM developers
dnl See COPYRIGHT in top-level directory
dnl
dnl The option of ghost processes (doc/casper.md), for both configure scripts.

m4_define([CSP_OPTION], [
AC_ARG_ENABLE([casper],
    [AS_HELP_STRING([--enable-casper],
        [ghost processes that make progress for the program while it computes: CSP_NG=N of the
         processes of each node at run time; needs a ch4 device with shared memory and Linux
         @<:@no@:>@])],
    [], [enable_casper=no])
AS_CASE([$enable_casper], [yes | no], [],
    [AC_MSG_ERROR([--enable-casper=$enable_casper: must be yes or no])])
])

dnl CSP_CHECK(DEVICE): stops if DEVICE or another option excludes ghosts.
m4_define([CSP_CHECK], [
AS_IF([test "x$enable_casper" = xyes], [
    AS_CASE([$1], [ch4 | ch4:*], [],
        [AC_MSG_ERROR([--enable-casper needs a ch4 device, not $1])])
    AS_CASE([$with_ch4_shmmods], [none | no],
        [AC_MSG_ERROR([--enable-casper needs MPICH's shared memory, which --with-ch4-shmmods=none and --without-ch4-shmmods leave out])])
    AS_IF([test -n "$with_pmix" && test "x$with_pmix" != xno],
        [AC_MSG_ERROR([--enable-casper does not work with --with-pmix yet: leave one of them out])])
    dnl processes copy with the processor, also what lies in the memory of a GPU
    for csp_gpu in cuda ze hip; do
        AS_VAR_COPY([csp_with], [with_$csp_gpu])
        AS_CASE([$csp_with], ['' | no], [],
            [AC_MSG_ERROR([--enable-casper does not work with --with-$csp_gpu yet: leave one of them out])])
    done
    AS_IF([test "x$with_pmi" = xpmi2],
        [AC_MSG_ERROR([--enable-casper does not work with --with-pmi=pmi2 yet: leave one of them out])])
])])

dnl CSP_DEFINE: what the C code and the makefiles see.
m4_define([CSP_DEFINE], [
AC_CHECK_FUNCS([process_vm_readv process_vm_writev])
AS_IF([test "x$enable_casper" = xyes], [
    AS_IF([test "x$ac_cv_func_process_vm_readv" != xyes],
        [AC_MSG_ERROR([--enable-casper needs process_vm_readv, which this system has not])])
    AC_DEFINE([ENABLE_CASPER], 1, [Define to build ghost processes in])])
AM_CONDITIONAL([BUILD_CASPER], [test "x$enable_casper" = xyes])
])

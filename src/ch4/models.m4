dnl Copyright (C) by the MPICH-TSM developers
dnl See COPYRIGHT in top-level directory
dnl
dnl The thread-safety options of both configure scripts, from the tables (maint/models). TSM_TOP is the
dnl way from the script's folder to the top of MPICH-TSM.

m4_define([TSM_TABLE], [m4_esyscmd_s(TSM_TOP[/maint/models --m4 $1])])

dnl TSM_THREAD_OPTIONS: the options. The outer script checks what the user gave and passes on what
dnl follows from it, so the inner one sees names that exist.
m4_define([TSM_THREAD_OPTIONS], [
AC_ARG_WITH([thread-lock],
    [AS_HELP_STRING([--with-thread-lock=LOCK],
        [lock inside the critical sections @<:@futex; global: mutex; hmcs-usc: hmcs only@:>@. ]TSM_TABLE([help-locks]))],
    [], [with_thread_lock=default])
AC_ARG_WITH([thread-progress],
    [AS_HELP_STRING([--with-thread-progress=KIND],
        [how waiting threads drive progress @<:@usc; global: blocking; offload, mp-server: server@:>@. ]TSM_TABLE([help-progress]))],
    [], [with_thread_progress=default])
AC_ARG_WITH([hmcs-levels],
    [AS_HELP_STRING([--with-hmcs-levels=N],
        [most levels of the lock hmcs, from 1 to 8: the innermost that the machine has (shared caches, NUMA nodes, sockets) and the machine @<:@3@:>@])],
    [], [with_hmcs_levels=default])
AC_ARG_ENABLE([thread-stats],
    [AS_HELP_STRING([--enable-thread-stats],
        [count contention, combining, polls and waiting threads: performance variables of MPI_T and a summary at MPI_Finalize (MPIR_CVAR_CH4_THREAD_SUMMARY) @<:@no@:>@])],
    [], [enable_thread_stats=no])
AS_CASE([$enable_thread_stats], [yes | no], [],
    [AC_MSG_ERROR([--enable-thread-stats=$enable_thread_stats: must be yes or no])])
])

dnl TSM_THREAD_CHECK(MODEL): sets tsm_model, tsm_id, tsm_scope, tsm_lock, tsm_lock_number and
dnl tsm_progress (default for the runtime library, whose models each have their own), or stops.
m4_define([TSM_THREAD_CHECK], [
AS_CASE([$1], [runtime], [tsm_name=TSM_TABLE([runtime-default])], [tsm_name=$1])
case $tsm_name in
TSM_TABLE([cases])
(*) AC_MSG_ERROR([--enable-thread-cs=$1: unknown thread-safety model; choose one of: ]TSM_TABLE([names])[, runtime]) ;;
esac
tsm_model_progress=$tsm_progress
AS_IF([test "x$1" = xruntime], [tsm_model=runtime; tsm_id=RUNTIME; tsm_model_progress=default])
tsm_model_lock=$tsm_lock
AS_IF([test "x$with_thread_lock" != xdefault], [tsm_lock=$with_thread_lock])
case $tsm_lock in
TSM_TABLE([cases-locks])
(*) AC_MSG_ERROR([--with-thread-lock=$tsm_lock: unknown lock; choose one of: ]TSM_TABLE([locks])) ;;
esac
AS_IF([test $tsm_locks = ONE && test $tsm_lock != $tsm_model_lock],
    [AC_MSG_ERROR([--with-thread-lock=$tsm_lock is not possible with --enable-thread-cs=$tsm_model, whose lock is always $tsm_model_lock; per-vci may have any])])
tsm_progress=$with_thread_progress
case $tsm_progress in
(default) tsm_progress=$tsm_model_progress; tsm_progress_scope=ANY ;;
TSM_TABLE([cases-progress])
(*) AC_MSG_ERROR([--with-thread-progress=$tsm_progress: unknown; choose one of: ]TSM_TABLE([progress])) ;;
esac
AS_IF([test $tsm_scope = PROCESS && test $tsm_progress_scope = VCI],
    [AC_MSG_ERROR([--with-thread-progress=$tsm_progress is not possible with --enable-thread-cs=$tsm_model, where each call holds the one lock; only blocking is])])
AS_IF([test $tsm_progress_scope = SERVER && test $tsm_model = runtime],
    [AC_MSG_ERROR([--with-thread-progress=$tsm_progress is not possible with --enable-thread-cs=runtime, where ]TSM_TABLE([served])[ have it in any case and no other model may: leave it out])])
AS_IF([test $tsm_progress_scope = SERVER && test x$tsm_model_progress != x$tsm_progress],
    [AC_MSG_ERROR([--with-thread-progress=$tsm_progress is not possible with --enable-thread-cs=$tsm_model, which starts no thread that polls])])
AS_IF([test x$tsm_model_progress = xserver && test x$tsm_progress != xserver],
    [AC_MSG_ERROR([--with-thread-progress=$tsm_progress is not possible with --enable-thread-cs=$tsm_model, which has a thread that polls; only server is])])
AS_IF([test "x$enable_refcount" = xnone && test $tsm_scope != PROCESS],
    [AS_CASE([$enable_threads], [single | funneled | serialized | no], [],
        [AC_MSG_ERROR([--enable-refcount=none is not possible with --enable-thread-cs=$tsm_model, where threads that use the same objects hold different locks])])])
AS_IF([test "x$with_hmcs_levels" != xdefault && test $tsm_lock != hmcs && test $tsm_model != runtime],
    [AC_MSG_ERROR([--with-hmcs-levels=$with_hmcs_levels is for the lock hmcs, but the lock is $tsm_lock: add --with-thread-lock=hmcs, or leave it out])])
case $with_hmcs_levels in
(default) with_hmcs_levels=3 ;;
(1 | 2 | 3 | 4 | 5 | 6 | 7 | 8) ;;
(*) AC_MSG_ERROR([--with-hmcs-levels=$with_hmcs_levels: must be a number from 1 to 8]) ;;
esac
])

dnl TSM_THREAD_DEFINE: what the C code sees. MPICH_THREAD_MODEL is an id of models.def or RUNTIME.
m4_define([TSM_THREAD_DEFINE], [
AS_IF([test x$with_hmcs_levels = xdefault], [with_hmcs_levels=3])   dnl without MPI_THREAD_MULTIPLE
AC_DEFINE_UNQUOTED([MPICH_THREAD_MODEL],$tsm_id,[Thread-safety model of MPI_THREAD_MULTIPLE: an id of models.def or RUNTIME])
AC_DEFINE_UNQUOTED([MPICH_THREAD_MODEL_IS_RUNTIME],`test $tsm_id = RUNTIME && echo 1 || echo 0`,[Whether the model is chosen when MPI is initialized])
AC_DEFINE_UNQUOTED([MPICH_THREAD_LOCK],$tsm_lock_number,[Lock of the critical sections: a number of locks.def])
AC_DEFINE_UNQUOTED([MPICH_THREAD_HMCS_LEVELS],$with_hmcs_levels,[Most levels of the lock hmcs])
AC_DEFINE_UNQUOTED([MPICH_THREAD_CS_NAME],"`echo $tsm_id | tr A-Z_ a-z-`",[Thread-safety model as in models.def])
AC_DEFINE_UNQUOTED([MPICH_THREAD_LOCK_NAME],"$tsm_lock",[Lock of the critical sections as in locks.def])
AC_DEFINE_UNQUOTED([MPICH_THREAD_PROGRESS_NAME],"$tsm_progress",[How waiting threads drive progress, or default])
AS_IF([test "x$enable_thread_stats" = xyes], [
    AS_IF([test "x$thread_granularity" = xMPICH_THREAD_GRANULARITY__SINGLE],
        [AC_MSG_ERROR([--enable-thread-stats needs a library with MPI_THREAD_MULTIPLE: leave out --enable-threads=$enable_threads])])
    AC_DEFINE([ENABLE_THREAD_STATS],1,[Define to count what threads do in MPI])])
])

dnl Copyright (C) by the MPICH-TSM developers
dnl See COPYRIGHT in top-level directory
dnl
dnl What MPICH's configure.ac has of ours: models.m4 and casper.m4, put together so that each place
dnl where it calls them is one line.

m4_define([TSM_TOP], [../..])
m4_include([confdb/tsm_models.m4])
m4_include([confdb/csp_casper.m4])

dnl TSM_DEVICE_OPTIONS: the options, and what holds for a library without MPI_THREAD_MULTIPLE or with
dnl a device other than ch4.
m4_define([TSM_DEVICE_OPTIONS], [
TSM_THREAD_OPTIONS
CSP_OPTION
tsm_id=GLOBAL
tsm_lock=mutex
tsm_lock_number=1
tsm_progress=default
])

dnl TSM_DEVICE_CHOOSE: the model of ch4. Afterwards enable_thread_cs is a granularity of MPICH: global,
dnl or per-vci for each model with locks of VCIs. With another device it stays as it is.
m4_define([TSM_DEVICE_CHOOSE], [
if test "$device_name" = "ch4" ; then
    if test "$enable_thread_cs" = "default" ; then enable_thread_cs=lockq ; fi
    TSM_THREAD_CHECK([$enable_thread_cs])
    if test "$tsm_scope" = "VCI" ; then enable_thread_cs=per-vci ; fi
fi
])

dnl TSM_DEVICE_DEFINE: what the C code and the makefiles see.
m4_define([TSM_DEVICE_DEFINE], [
TSM_THREAD_DEFINE
CSP_CHECK([$device_name])
CSP_DEFINE
])

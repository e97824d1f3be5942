## Copyright (C) by the MPICH-TSM developers
##     See COPYRIGHT in top-level directory

## Mutexes and critical sections, for each device, in place of MPICH's list of this folder (graft.map).
if BUILD_MPID_COMMON_THREAD
AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/common/thread
mpi_core_sources += src/include/tsm/tsm_load.c src/mpid/common/thread/mpidu_lock.c
noinst_HEADERS += \
    src/mpid/common/thread/mpidu_chosen_lock.h \
    src/mpid/common/thread/mpidu_lock.h \
    src/mpid/common/thread/mpidu_thread_fallback.h
endif BUILD_MPID_COMMON_THREAD

## Copyright (C) by the MPICH-TSM developers
##     See COPYRIGHT in top-level directory

## Our part of the device, but for what is built without a device (graft.map).
mpi_core_sources += \
    src/include/tsm/lock/tsm_lock_kind.c \
    src/include/tsm/tsm_slice.c \
    src/mpid/ch4/src/threads/combiner.c \
    src/mpid/ch4/src/threads/complete.c \
    src/mpid/ch4/src/threads/drive.c \
    src/mpid/ch4/src/threads/issue/csync.c \
    src/mpid/ch4/src/threads/issue/hybcomb.c \
    src/mpid/ch4/src/threads/issue/lockq.c \
    src/mpid/ch4/src/threads/issue/offload.c \
    src/mpid/ch4/src/threads/match.c \
    src/mpid/ch4/src/threads/model.c \
    src/mpid/ch4/src/threads/op_apply.c \
    src/mpid/ch4/src/threads/op_pool.c \
    src/mpid/ch4/src/threads/post_queue.c \
    src/mpid/ch4/src/threads/posted.c \
    src/mpid/ch4/src/threads/progress/async.c \
    src/mpid/ch4/src/threads/progress/awaited.c \
    src/mpid/ch4/src/threads/progress/elsewhere.c \
    src/mpid/ch4/src/threads/progress/poll.c \
    src/mpid/ch4/src/threads/progress/server.c \
    src/mpid/ch4/src/threads/progress/stack.c \
    src/mpid/ch4/src/threads/progress/start.c \
    src/mpid/ch4/src/threads/progress/wait.c \
    src/mpid/ch4/src/threads/progress/watchdog.c \
    src/mpid/ch4/src/threads/recv_at_once.c \
    src/mpid/ch4/src/threads/request_cache.c \
    src/mpid/ch4/src/threads/section/counted_lock.c \
    src/mpid/ch4/src/threads/section/section.c \
    src/mpid/ch4/src/threads/section/vci_lock.c \
    src/mpid/ch4/src/threads/served.c \
    src/mpid/ch4/src/threads/settings.c \
    src/mpid/ch4/src/threads/stats/events.c \
    src/mpid/ch4/src/threads/stats/hooks.c \
    src/mpid/ch4/src/threads/stats/places.c \
    src/mpid/ch4/src/threads/stats/pvars.c \
    src/mpid/ch4/src/threads/stats/report.c \
    src/mpid/ch4/src/threads/stats/trace.c \
    src/mpid/ch4/src/threads/stats/trace_file.c \
    src/mpid/ch4/src/threads/thread.c \
    src/mpid/ch4/src/threads/transport/av_tables.c \
    src/mpid/ch4/src/threads/transport/dynproc.c \
    src/mpid/ch4/src/threads/transport/ring/ring.c \
    src/mpid/ch4/src/threads/transport/win_table.c \
    src/mpid/ch4/src/threads/vci.c \
    src/mpid/ch4/src/threads/watched.c \
    src/util/object_name.c

if BUILD_CH4_NETMOD_OFI
mpi_core_sources += \
    src/mpid/ch4/netmod/ofi/ofi_am_source.c \
    src/mpid/ch4/netmod/ofi/ofi_deferred.c \
    src/mpid/ch4/netmod/ofi/ofi_deferred_call.c \
    src/mpid/ch4/netmod/ofi/ofi_deferred_peers.c \
    src/mpid/ch4/netmod/ofi/ofi_deferred_recv.c \
    src/mpid/ch4/netmod/ofi/ofi_flush.c
endif

include $(top_srcdir)/src/mpid/ch4/src/casper/Makefile.mk

## Copyright (C) by the MPICH-TSM developers
##     See COPYRIGHT in top-level directory

if BUILD_CASPER
mpi_core_sources += \
    src/mpid/ch4/src/casper/csp_account.c \
    src/mpid/ch4/src/casper/csp_agree.c \
    src/mpid/ch4/src/casper/csp_alloc.c \
    src/mpid/ch4/src/casper/csp_answer.c \
    src/mpid/ch4/src/casper/csp_cancel.c \
    src/mpid/ch4/src/casper/csp_choose.c \
    src/mpid/ch4/src/casper/csp_comm.c \
    src/mpid/ch4/src/casper/csp_copy.c \
    src/mpid/ch4/src/casper/csp_count.c \
    src/mpid/ch4/src/casper/csp_credit.c \
    src/mpid/ch4/src/casper/csp_data.c \
    src/mpid/ch4/src/casper/csp_desk.c \
    src/mpid/ch4/src/casper/csp_direct.c \
    src/mpid/ch4/src/casper/csp_domain.c \
    src/mpid/ch4/src/casper/csp_done.c \
    src/mpid/ch4/src/casper/csp_envelope.c \
    src/mpid/ch4/src/casper/csp_expose.c \
    src/mpid/ch4/src/casper/csp_file.c \
    src/mpid/ch4/src/casper/csp_ghost.c \
    src/mpid/ch4/src/casper/csp_grant.c \
    src/mpid/ch4/src/casper/csp_help.c \
    src/mpid/ch4/src/casper/csp_hint.c \
    src/mpid/ch4/src/casper/csp_inner.c \
    src/mpid/ch4/src/casper/csp_keep.c \
    src/mpid/ch4/src/casper/csp_life.c \
    src/mpid/ch4/src/casper/csp_link.c \
    src/mpid/ch4/src/casper/csp_match.c \
    src/mpid/ch4/src/casper/csp_node.c \
    src/mpid/ch4/src/casper/csp_offer.c \
    src/mpid/ch4/src/casper/csp_outbox.c \
    src/mpid/ch4/src/casper/csp_pair.c \
    src/mpid/ch4/src/casper/csp_place.c \
    src/mpid/ch4/src/casper/csp_post.c \
    src/mpid/ch4/src/casper/csp_probe.c \
    src/mpid/ch4/src/casper/csp_recv.c \
    src/mpid/ch4/src/casper/csp_ring.c \
    src/mpid/ch4/src/casper/csp_rma.c \
    src/mpid/ch4/src/casper/csp_send.c \
    src/mpid/ch4/src/casper/csp_settings.c \
    src/mpid/ch4/src/casper/csp_share.c \
    src/mpid/ch4/src/casper/csp_stage.c \
    src/mpid/ch4/src/casper/csp_stream.c \
    src/mpid/ch4/src/casper/csp_win.c \
    src/mpid/ch4/src/casper/csp_win_share.c \
    src/mpid/ch4/src/casper/csp_win_sync.c \
    src/mpid/ch4/src/casper/csp_wire.c \
    src/mpid/ch4/src/casper/csp_world.c
endif BUILD_CASPER

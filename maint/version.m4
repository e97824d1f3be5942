dnl Copyright (C) by the MPICH-TSM developers
dnl See COPYRIGHT in top-level directory
m4_define([TSM_VERSION], [0.1.0])dnl

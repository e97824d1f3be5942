/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_FILE_H_INCLUDED
#define CSP_FILE_H_INCLUDED

/* Files of shared memory for direct memory (csp_direct.h). A file has no name of its own, so nothing is
 * left behind whatever happens; while it is open here, others of the node open it through /proc. Its
 * memory is reserved before it is used, so a full file system shows at once and never as a signal. */

#include <stddef.h>

#define CSP_FILE_NAME 64        /* bytes */

/* Make a file of this size and tell the name for others. Returns the descriptor, -1 if it cannot be
 * made. The caller closes it when all others have mapped the file. */
int csp_file_make(size_t bytes, char name[CSP_FILE_NAME]);

/* Reserve memory for a part of it, or of another file there. Returns 1, 0 if there is not as much,
 * beside what the processes of the node may need for other shared memory. After csp_node_open. */
int csp_file_reserve(int fd, size_t begin, size_t bytes);

/* Tell once for each node, on stderr, that there is not enough shared memory. By users. */
void csp_file_tell_short(void);

#endif /* CSP_FILE_H_INCLUDED */

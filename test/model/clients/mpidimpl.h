/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* For clients that include a file of src/ch4: they say before what that needs of MPICH. */

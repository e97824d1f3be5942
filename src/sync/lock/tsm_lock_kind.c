/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../tsm_atomic.h"
#include "tsm_lock_kind.h"

/* The number of each lock, as a plain number: the names of its functions end in it. */
#define TSM_LOCK_KIND 1
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 2
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 3
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 4
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 5
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 6
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 7
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 8
#include "tsm_lock_instance.def"
#define TSM_LOCK_KIND 9
#include "tsm_lock_instance.def"

/* A lock that is new in locks.def and missing above does not compile here. */
static const tsm_lock_kind_t *const kinds[] = {
#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) &tsm_lock_kind_##number_,
#include "locks.def"
#undef TSM_LOCK_KIND
};

#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) ", " #name_
static const char names[] =
#include "locks.def"
    ;
#undef TSM_LOCK_KIND

const tsm_lock_kind_t *tsm_lock_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcasecmp(name, kinds[i]->name) == 0)
            return kinds[i];
    }
    return NULL;
}

const char *tsm_lock_kind_names(void)
{
    return names + 2;
}

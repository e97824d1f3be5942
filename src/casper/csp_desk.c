/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <fcntl.h>
#include <sys/mman.h>
#include "csp_desk.h"
#include "csp_file.h"
#include "csp_ghost.h"
#include "csp_post.h"
#include "tsm/tsm_wait.h"

/* Vain steps of a wait for the desk between two looks whether its holder may have died. */
#define STEPS_PER_LOOK 1024

/* Items of the ghost's own memory at a time: it gets as many again when they are used up. */
#define PRIVATE_AT_ONCE 4096
#define PRIVATE_CHUNKS  4096

/* Bytes of the items that the ghost adds at a time, in whole pages. */
#define PAGES        65536
#define ADDED_BYTES  ((CSP_ADDED * sizeof(csp_item_t) + PAGES - 1) / PAGES * PAGES)
#define MOST_ADDED   4096

/* After a refusal, the time until the ghost asks for memory again. */
#define REFUSED_NS   100000000u

static csp_item_t *chunks[PRIVATE_CHUNKS];
static int n_chunks;
static csp_ref_t free_private;

static csp_item_t *added[MOST_ADDED];
static uint32_t n_added;        /* of those mapped here; by the holder of the desk */
static int is_full;             /* in the ghost: there can be no more */

static csp_desk_t *desk(void)
{
    return &csp_node.my_ghost->desk;
}

/* ---- its holder ---- */

int csp_desk_try(void)
{
    uint32_t is_free = 0;

    return tsm_load(&desk()->lock, TSM_RELAXED) == 0 &&
        tsm_cas(&desk()->lock, &is_free, (uint32_t) csp_world.pid, TSM_ACQUIRE, TSM_RELAXED);
}

void csp_desk_lock(void)
{
    tsm_wait_state_t wait = tsm_wait_begin(TSM_WAIT_POLL);

    for (unsigned steps = 1; !csp_desk_try(); steps++) {
        if (tsm_wait_step(&wait, 1))
            tsm_yield();
        if (steps % STEPS_PER_LOOK != 0)
            continue;
        if (csp_world.is_ghost)
            csp_ghost_check_users();
        else
            csp_check_ghost();
    }
}

void csp_desk_unlock(void)
{
    tsm_store(&desk()->lock, 0, TSM_RELEASE);
}

/* ---- items ---- */

csp_item_t *csp_item_of(csp_ref_t ref)
{
    if (ref & CSP_PRIVATE) {
        ref &= ~CSP_PRIVATE;
        return &chunks[ref / PRIVATE_AT_ONCE][ref % PRIVATE_AT_ONCE];
    }
    ref--;
    if (ref < (csp_ref_t) csp_node.users * CSP_ITEMS)
        return &csp_node.user[ref / CSP_ITEMS].item[ref % CSP_ITEMS];
    ref -= (csp_ref_t) csp_node.users * CSP_ITEMS;
    return &added[ref / CSP_ADDED][ref % CSP_ADDED];
}

/* The items with the numbers first + 1 and so on. */
static void give(csp_ref_t first, uint32_t n)
{
    for (csp_ref_t ref = first + n; ref > first; ref--) {
        csp_item_of(ref)->next = desk()->free;
        desk()->free = ref;
    }
    desk()->items += n;
}

void csp_desk_give_items(void)
{
    csp_desk_lock();
    give((csp_ref_t) csp_node.me * CSP_ITEMS, CSP_ITEMS);
    csp_desk_unlock();
}

/* The next part of the file, which is in `file` of this process. */
static int map_added(int file)
{
    void *addr = mmap(NULL, ADDED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      (off_t) (n_added * ADDED_BYTES));

    if (addr == MAP_FAILED)
        return 0;
    added[n_added++] = addr;
    return 1;
}

static int has_file(void)
{
    static int is_made;
    char name[CSP_FILE_NAME];

    if (!is_made)
        desk()->file = csp_file_make(ADDED_BYTES, name);
    is_made = 1;
    return desk()->added < MOST_ADDED && desk()->file >= 0;
}

/* Another process may have the memory only for a moment, so a refusal is not for good. */
void csp_desk_add_items(void)
{
    static uint64_t not_before_ns;

    if (desk()->items >= CSP_DESK_RESERVE || is_full || tsm_now_ns() < not_before_ns)
        return;
    is_full = !has_file();
    if (is_full)
        return;
    if (!csp_file_reserve(desk()->file, desk()->added * ADDED_BYTES, ADDED_BYTES)) {
        not_before_ns = tsm_now_ns() + REFUSED_NS;
        return;
    }
    is_full = !map_added(desk()->file);
    if (!is_full)
        give((csp_ref_t) csp_node.users * CSP_ITEMS + desk()->added++ * CSP_ADDED, CSP_ADDED);
}

static int map_all_added(void)
{
    char name[CSP_FILE_NAME];
    int file, is_mapped = 1;

    snprintf(name, sizeof(name), "/proc/%d/fd/%d", csp_node.my_ghost->pid, (int) desk()->file);
    file = open(name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return 0;
    while (is_mapped && n_added < desk()->added)
        is_mapped = map_added(file);
    close(file);
    return is_mapped;
}

int csp_desk_sees_items(void)
{
    if (n_added == desk()->added || map_all_added())
        return 1;
    tsm_store(&csp_node.reaches, 0, TSM_RELAXED);
    return 0;
}

static void make_private(void)
{
    if (n_chunks == PRIVATE_CHUNKS)
        csp_fail("a ghost has too many receives and messages");
    chunks[n_chunks] = csp_must_malloc(PRIVATE_AT_ONCE * sizeof(csp_item_t));
    for (uint32_t i = PRIVATE_AT_ONCE; i > 0; i--) {
        csp_ref_t ref = CSP_PRIVATE | ((csp_ref_t) n_chunks * PRIVATE_AT_ONCE + i - 1);
        chunks[n_chunks][i - 1].next = free_private;
        free_private = ref;
    }
    n_chunks++;
}

static csp_ref_t take_private(void)
{
    if (!csp_world.is_ghost)
        return 0;
    if (!free_private)
        make_private();

    csp_ref_t ref = free_private;
    free_private = csp_item_of(ref)->next;
    desk()->privates++;
    return ref;
}

static csp_ref_t take_item(void)
{
    csp_ref_t ref;

    if (csp_world.is_ghost)
        csp_desk_add_items();
    ref = desk()->free;
    if (!ref)
        return take_private();
    desk()->free = csp_item_of(ref)->next;
    desk()->items--;
    return ref;
}

csp_item_t *csp_item_new(csp_ref_t * ref)
{
    csp_item_t *item;

    *ref = take_item();
    if (!*ref)
        return NULL;
    item = csp_item_of(*ref);
    memset(item, 0, offsetof(csp_item_t, data));
    return item;
}

void csp_item_free(csp_ref_t ref)
{
    csp_item_t *item = csp_item_of(ref);

    if (item->spot.segment)
        desk()->holds[item->spot.segment % CSP_SEGMENTS]--;
    if (ref & CSP_PRIVATE) {
        item->next = free_private;
        free_private = ref;
        desk()->privates--;
    } else {
        item->next = desk()->free;
        desk()->free = ref;
        desk()->items++;
    }
}

/* ---- lists ---- */

void csp_list_add(csp_list_t * list, csp_ref_t ref)
{
    csp_item_of(ref)->next = 0;
    if (list->first)
        csp_item_of(list->last)->next = ref;
    else
        list->first = ref;
    list->last = ref;
    if (!list->fresh)
        list->fresh = ref;
}

void csp_list_push(csp_list_t * list, csp_ref_t ref)
{
    csp_item_of(ref)->next = list->first;
    if (!list->first)
        list->last = ref;
    list->first = ref;
}

void csp_list_cut(csp_list_t * list, csp_ref_t before, csp_ref_t ref)
{
    csp_ref_t next = csp_item_of(ref)->next;

    if (before)
        csp_item_of(before)->next = next;
    else
        list->first = next;
    if (list->last == ref)
        list->last = before;
    if (list->fresh == ref)
        list->fresh = next;
}

csp_ref_t csp_list_see(csp_list_t * list)
{
    csp_ref_t ref = list->fresh;

    if (ref)
        list->fresh = csp_item_of(ref)->next;
    return ref;
}

/* The last one left comes first, so that nobody has to look at an item of the ghost's memory. */
void csp_desk_leave(csp_ref_t ref, csp_left_t what, int is_urgent)
{
    csp_item_t *item = csp_item_of(ref);

    item->left = (int32_t) what;
    item->next = desk()->left;
    desk()->left = ref;
    if (is_urgent)
        csp_desk_owe();
}

csp_ref_t csp_desk_take_left(void)
{
    csp_ref_t ref = desk()->left;

    if (ref)
        desk()->left = csp_item_of(ref)->next;
    return ref;
}

void csp_desk_owe(void)
{
    tsm_fetch_add(&desk()->owed, 1, TSM_SEQ_CST);
}

uint32_t csp_desk_owed(void)
{
    return tsm_load(&desk()->owed, TSM_SEQ_CST);
}

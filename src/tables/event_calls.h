/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef EVENT_CALLS_H_INCLUDED
#define EVENT_CALLS_H_INCLUDED

/* For events_impl.c, in place of its functions: events are raised while their handles come, change and
 * go (event_handles.h), and dropped events are counted by several threads. */

/* To the callback of the handle with the least safety that is enough. */
static void event_give(MPIR_T_event_t * event, MPI_T_event_registration handle, MPI_T_cb_safety safety,
                       void *data)
{
    const int levels = sizeof(handle->callbacks) / sizeof(handle->callbacks[0]);
    int level = safety;

    while (level < levels && handle->callbacks[level].cb_function == NULL)
        level++;
    if (level == levels) {
        if (handle->dropped_cb)
            __atomic_fetch_add(&handle->dropped_count, 1, __ATOMIC_RELAXED);
        return;
    }

    const MPIR_T_event_cb_t callback = handle->callbacks[level];
    const MPI_Count dropped = __atomic_exchange_n(&handle->dropped_count, 0, __ATOMIC_RELAXED);
    MPIR_T_event_instance_t instance = {
#ifdef HAVE_ERROR_CHECKING
        .kind = MPIR_T_EVENT_INSTANCE,
#endif
        .event = event,
        .data = data
    };

    if (dropped > 0 && handle->dropped_cb)
        handle->dropped_cb(dropped, handle, event->source_index, safety, callback.user_data);
    MPIR_T_source_get_timestamp_impl(event->source_index, &instance.timestamp);
    callback.cb_function(&instance, handle, safety, callback.user_data);
}

void MPIR_T_event_instance(int event_index, MPI_T_cb_safety cb_safety, void *data)
{
    MPIR_T_event_t *event;
    MPI_T_event_registration handle = NULL;

    if (!event_handles_exist())
        return;
    event_handles_use();
    HASH_FIND_INT(events, &event_index, event);
    if (event)
        handle = event->reg_list_head;
    for (; handle; handle = handle->next)
        event_give(event, handle, cb_safety, data);
    event_handles_leave();
}

#ifdef ENABLE_THREAD_STATS
/* For the events of stats/events.c, which cost something to prepare. */
int MPIR_T_event_handles_exist(void);
int MPIR_T_event_handles_exist(void)
{
    return event_handles_exist();
}
#endif

/* A change of a handle, or of the list of its event, which gets so many handles more: no thread raises
 * an event meanwhile. */
#define EVENT_HANDLES_CHANGE(more_, change_) \
    do { \
        event_handles_change(more_); \
        change_; \
        event_handles_changed(); \
    } while (0)

/* A handle has neither callbacks nor a handler of dropped events at first. It is complete before it
 * comes into the list: an event may come at once. */
int MPIR_T_event_handle_alloc_impl(int event_index, void *object, MPIR_Info * info,
                                   MPI_T_event_registration * handle)
{
    MPIR_T_event_t *event;

    HASH_FIND_INT(events, &event_index, event);
    if (event) {
        MPI_T_event_registration made = MPL_calloc(1, sizeof(*made), MPL_MEM_MPIT);
#ifdef HAVE_ERROR_CHECKING
        made->kind = MPIR_T_EVENT_REG;
#endif
        made->event = event;
        made->obj_handle = event->bind == MPI_T_BIND_NO_OBJECT ? NULL : object;
        EVENT_HANDLES_CHANGE(1, LL_APPEND(event->reg_list_head, event->reg_list_tail, made));
        *handle = made;
    }
    return event ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int MPIR_T_event_handle_free_impl(MPI_T_event_registration handle, void *user_data,
                                  MPI_T_event_free_cb_function freed)
{
    MPIR_T_event_t *event = handle->event;

    EVENT_HANDLES_CHANGE(-1, LL_DELETE(event->reg_list_head, event->reg_list_tail, handle));
    if (freed)
        freed(handle, MPI_T_CB_REQUIRE_NONE, user_data);
    MPL_free(handle);
    return MPI_SUCCESS;
}

/* After the last MPI_T_finalize: handles that a tool has left get no more events. By the thread that
 * finalizes, without MPI_T's mutex. */
void MPIR_T_event_handles_drop(void);
void MPIR_T_event_handles_drop(void)
{
    MPIR_T_event_t *event, *next;

    pthread_rwlock_wrlock(&event_handles_lock);
    HASH_ITER(hh, events, event, next) {
        while (event->reg_list_head) {
            MPI_T_event_registration handle = event->reg_list_head;
            LL_DELETE(event->reg_list_head, event->reg_list_tail, handle);
            MPL_free(handle);
        }
    }
    __atomic_store_n(&event_handles_num, 0, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&event_handles_lock);
}

int MPIR_T_event_register_callback_impl(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                                        MPIR_Info * info, void *user_data,
                                        MPI_T_event_cb_function function)
{
    const MPIR_T_event_cb_t callback = {.cb_function = function,.user_data = user_data };

    EVENT_HANDLES_CHANGE(0, handle->callbacks[safety] = callback);
    return MPI_SUCCESS;
}

int MPIR_T_event_set_dropped_handler_impl(MPI_T_event_registration handle,
                                          MPI_T_event_dropped_cb_function function)
{
    EVENT_HANDLES_CHANGE(0, handle->dropped_cb = function);
    return MPI_SUCCESS;
}

#endif /* EVENT_CALLS_H_INCLUDED */

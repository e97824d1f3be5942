/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef EVENT_CALLS_H_INCLUDED
#define EVENT_CALLS_H_INCLUDED

/* For events_impl.c, in place of its functions: events are raised while their handles come, change and
 * go (event_handles.h), and dropped events are counted by several threads. */

void MPIR_T_event_instance(int event_index, MPI_T_cb_safety cb_safety, void *data)
{
    MPIR_T_event_t *event;

    if (!event_handles_exist())
        return;
    event_handles_use();
    HASH_FIND_INT(events, &event_index, event);
    if (event == NULL)
        goto fn_exit;

    for (MPIR_T_event_registration_t * event_reg = event->reg_list_head; event_reg;
         event_reg = event_reg->next) {
        int i = cb_safety;

        /* the callback with the least safety that is enough */
        while (i < 4 && event_reg->callbacks[i].cb_function == NULL)
            i++;
        if (i == 4) {
            if (event_reg->dropped_cb != NULL)
                __atomic_fetch_add(&event_reg->dropped_count, 1, __ATOMIC_RELAXED);
            continue;
        }

        void *user_data = event_reg->callbacks[i].user_data;
        MPI_Count dropped = __atomic_exchange_n(&event_reg->dropped_count, 0, __ATOMIC_RELAXED);
        if (dropped > 0 && event_reg->dropped_cb != NULL)
            event_reg->dropped_cb(dropped, event_reg, event->source_index, cb_safety, user_data);

        MPIR_T_event_instance_t event_instance;
#ifdef HAVE_ERROR_CHECKING
        event_instance.kind = MPIR_T_EVENT_INSTANCE;
#endif
        event_instance.event = event;
        MPIR_T_source_get_timestamp_impl(event->source_index, &event_instance.timestamp);
        event_instance.data = data;
        event_reg->callbacks[i].cb_function(&event_instance, event_reg, cb_safety, user_data);
    }

  fn_exit:
    event_handles_leave();
}

int MPIR_T_event_handle_alloc_impl(int event_index, void *obj_handle, MPIR_Info * info_ptr,
                                   MPI_T_event_registration * event_registration)
{
    MPIR_T_event_t *event;
    MPIR_T_event_registration_t *handle;

    HASH_FIND_INT(events, &event_index, event);
    if (event == NULL)
        return MPI_T_ERR_INVALID_INDEX;
    handle = MPL_malloc(sizeof(*handle), MPL_MEM_MPIT);
#ifdef HAVE_ERROR_CHECKING
    handle->kind = MPIR_T_EVENT_REG;
#endif
    handle->event = event;
    if (event->bind != MPI_T_BIND_NO_OBJECT)
        handle->obj_handle = obj_handle;
    memset(handle->callbacks, 0, sizeof(handle->callbacks));
    handle->dropped_cb = NULL;
    handle->dropped_count = 0;

    /* complete from here on: an event may come at once */
    event_handles_change(1);
    LL_APPEND(event->reg_list_head, event->reg_list_tail, handle);
    event_handles_changed();
    *event_registration = handle;
    return MPI_SUCCESS;
}

int MPIR_T_event_handle_free_impl(MPI_T_event_registration handle, void *user_data,
                                  MPI_T_event_free_cb_function free_cb_function)
{
    event_handles_change(-1);
    LL_DELETE(handle->event->reg_list_head, handle->event->reg_list_tail, handle);
    event_handles_changed();
    if (free_cb_function != NULL)
        free_cb_function(handle, MPI_T_CB_REQUIRE_NONE, user_data);
    MPL_free(handle);
    return MPI_SUCCESS;
}

int MPIR_T_event_register_callback_impl(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety,
                                        MPIR_Info * info_ptr, void *user_data,
                                        MPI_T_event_cb_function event_cb_function)
{
    event_handles_change(0);
    handle->callbacks[cb_safety].cb_function = event_cb_function;
    handle->callbacks[cb_safety].user_data = user_data;
    event_handles_changed();
    return MPI_SUCCESS;
}

int MPIR_T_event_set_dropped_handler_impl(MPI_T_event_registration handle,
                                          MPI_T_event_dropped_cb_function dropped_cb_function)
{
    event_handles_change(0);
    handle->dropped_cb = dropped_cb_function;
    event_handles_changed();
    return MPI_SUCCESS;
}

#endif /* EVENT_CALLS_H_INCLUDED */

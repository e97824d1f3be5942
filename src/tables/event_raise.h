/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef EVENT_RAISE_H_INCLUDED
#define EVENT_RAISE_H_INCLUDED

/* For events_impl.c, in place of its function: an event is raised while handles come and go
 * (event_handles.h), and dropped events are counted by several threads. */

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

#endif /* EVENT_RAISE_H_INCLUDED */

/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What must not change with ghosts: the class of an error, and ordinary windows, which are those with
 * the hint async_config=off and those of other kinds. */
#include "../mt.h"

static int class_of(int code)
{
    int class;
    MT_OK(MPI_Error_class(code, &class));
    return class;
}

#define GIVES(call_, class_)                                    \
    do {                                                        \
        int got_ = class_of(call_);                             \
        MT_CHECK(got_ == (class_), "%s: class %d", #call_, got_);   \
    } while (0)

static void errors(void)
{
    MPI_Win win;
    long *mem, word = 3, size;
    MT_OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < 4; i++)
        mem[i] = 0;
    size = mt.size;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        GIVES(MPI_Put(&word, 1, MPI_LONG, i, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
        GIVES(MPI_Win_unlock(i, win), MPI_ERR_RMA_SYNC);
        GIVES(MPI_Win_flush(i, win), MPI_ERR_RMA_SYNC);
    }
    GIVES(MPI_Win_lock(MPI_LOCK_SHARED, (int) size, 0, win), MPI_ERR_RANK);
    MT_OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    GIVES(MPI_Put(&word, 1, MPI_LONG, (int) size, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    GIVES(MPI_Put(&word, -1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
    MT_OK(MPI_Put(&word, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    MT_OK(MPI_Put(NULL, 0, MPI_LONG, (mt.rank + 1) % mt.size, 4, 0, MPI_LONG, win));
    MT_OK(MPI_Win_unlock_all(win));
    GIVES(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    MT_OK(MPI_Win_free(&win));
}

/* Processes of other nodes, of which there are some if -s 1 is given, cannot write beyond the end, nor
 * before the beginning. */
static void beyond_the_end(void)
{
    MPI_Win win;
    MPI_Datatype far, back;
    long *mem, word = 3, old, got[2];
    MT_OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Type_vector(2, 1, 4, MPI_LONG, &far));
    MT_OK(MPI_Type_commit(&far));
    MT_OK(MPI_Type_create_resized(MPI_LONG, 0, -(MPI_Aint) sizeof(long), &back));
    MT_OK(MPI_Type_commit(&back));
    for (int i = 0; i < 4; i++)
        mem[i] = 100 * mt.rank;
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Win_lock_all(0, win));
    if (mt.bytes) {
        int to = mt.rank ^ 1;   /* with MPIR_CVAR_ODD_EVEN_CLIQUES, of the other node */
        GIVES(MPI_Put(&word, 1, MPI_LONG, to, 4, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
        GIVES(MPI_Put(mem, 2, MPI_LONG, to, 0, 1, far, win), MPI_ERR_RMA_RANGE);
        GIVES(MPI_Fetch_and_op(&word, &old, MPI_LONG, to, 4, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        GIVES(MPI_Put(mem, 2, MPI_LONG, to, 0, 2, back, win), MPI_ERR_RMA_RANGE);
        MT_OK(MPI_Get(got, 2, MPI_LONG, to, 1, 2, back, win));
        GIVES(MPI_Put(&word, 1, MPI_LONG, to, (MPI_Aint) 1 << 61, 1, MPI_LONG, win),
              MPI_ERR_RMA_RANGE);
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 4; i++)
        MT_CHECK(mem[i] == 100 * mt.rank, "overwritten: %ld", mem[i]);
    MT_OK(MPI_Type_free(&far));
    MT_OK(MPI_Type_free(&back));
    MT_OK(MPI_Win_free(&win));
}

static void expect(MPI_Win win, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    MT_OK(MPI_Win_get_info(win, &info));
    MT_OK(MPI_Info_get(info, "async_config", MPI_MAX_INFO_VAL, value, &flag));
    MT_CHECK(flag && strcmp(value, expected) == 0, "async_config is %s, not %s",
             flag ? value : "not there", expected);
    MT_OK(MPI_Info_free(&info));
}

static void use(MPI_Win win, const char *expected)
{
    long out = mt.rank, in = -1;
    expect(win, expected);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&out, 1, MPI_LONG, (mt.rank + 1) % mt.size, 0, 1, MPI_LONG, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Get(&in, 1, MPI_LONG, (mt.rank + 1) % mt.size, 0, 1, MPI_LONG, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_CHECK(in == out, "%ld, not %ld", in, out);
    MT_OK(MPI_Win_free(&win));
}

static void hints(void)
{
    static const char *const values[] = { "off", "on" };
    long *mem, memory;
    MPI_Info info;
    MPI_Win win;
    for (int i = 0; i < 2; i++) {
        MT_OK(MPI_Info_create(&info));
        MT_OK(MPI_Info_set(info, "async_config", values[i]));
        MT_OK(MPI_Win_allocate(sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &mem, &win));
        MT_OK(MPI_Info_free(&info));
        use(win, i ? "true" : "false");
    }
    MT_OK(MPI_Win_create(&memory, sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    use(win, "false");
    MT_OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_SELF, &mem, &win));
    expect(win, "false");
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    errors();
    beyond_the_end();
    hints();
    return mt_finish();
}

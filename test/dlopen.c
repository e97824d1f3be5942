/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

/* A program that is not linked with the library, as an interpreter is, loads it and runs MPI. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Returns the function of that name; ISO C has no cast for it. */
static void symbol_of(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof(address));
}

int main(int argc, char **argv)
{
    int (*init) (int *, char ***), (*finalize) (void);
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;

    if (!library) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: dlopen LIBRARY");
        return 1;
    }
    symbol_of(library, "MPI_Init", &init);
    symbol_of(library, "MPI_Finalize", &finalize);
    if (!init || !finalize || init(NULL, NULL) || finalize()) {
        fprintf(stderr, "%s: MPI_Init or MPI_Finalize failed\n", argv[1]);
        return 1;
    }
    return 0;
}

/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ENV_VALUES_H_INCLUDED
#define ENV_VALUES_H_INCLUDED

/* For mpl_env.c, in place of its functions: what an int does not hold is an error, as a wrong truth
 * value is; what is empty is as what is not set. Both return 1 if they have set *val, 0 if there is no
 * value, -1 after they have said what is wrong. */

#include <limits.h>

int MPL_env2int(const char *envName, int *val)
{
    const char *text = getenv(envName), *p = text;
    int sign = 1;
    long long value = 0;

    if (text == NULL || *text == '\0')
        return 0;
    while (*p && isspace(*p))
        p++;
    if (*p == '-') {
        p++;
        sign = -1;
    }
    if (*p == '+')
        p++;
    while (*p && isdigit(*p) && value <= INT_MAX)
        value = 10 * value + (*p++ - '0');
    if (*p && !isdigit(*p)) {
        MPL_error_printf("Invalid character %c in %s\n", *p, envName);
        return -1;
    }
    if (sign * value > INT_MAX || sign * value < INT_MIN) {
        MPL_error_printf("%s=%s: must be from %d to %d\n", envName, text, INT_MIN, INT_MAX);
        return -1;
    }
    *val = (int) (sign * value);
    return 1;
}

int MPL_env2bool(const char *envName, int *val)
{
    static const char *const words[][2] = {
        {"NO", "YES"}, {"no", "yes"}, {"FALSE", "TRUE"}, {"false", "true"}, {"OFF", "ON"},
        {"off", "on"}, {"0", "1"}
    };
    const char *text = getenv(envName);

    if (text == NULL || *text == '\0')
        return 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (int truth = 0; truth < 2; truth++) {
            if (strcmp(text, words[i][truth]) == 0) {
                *val = truth;
                return 1;
            }
        }
    }
    MPL_error_printf("%s=%s: must be yes, true, on, 1, no, false, off or 0\n", envName, text);
    return -1;
}

#endif /* ENV_VALUES_H_INCLUDED */

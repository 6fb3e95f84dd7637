// How all programs are started.

#ifndef DAYBOOK_STARTING_H
#define DAYBOOK_STARTING_H

#include <spawn.h>
#include <sys/types.h>

// Starts the program that is the first word of a line. What this process ignores, the program would
// ignore, too: so it does not. Returns 0 or the number of the error.
int terminal_program_spawn(posix_spawn_file_actions_t *actions, char *const *line, pid_t *child);

#endif

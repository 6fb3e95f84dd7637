#include "CDaybookTerminal.h"
#include "starting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t pager;
static int own_output = -1;
static struct sigaction before_interrupt;

// A pager ignores an interruption, and so must the process that feeds it, or both would read from
// the terminal. Once the pager is gone, there is no reader any more.
static void end_without_pager(int number) {
    int error = errno;
    if (pager != 0 && waitpid((pid_t)pager, NULL, WNOHANG) != 0) _exit(128 + number);
    errno = error;
}

static int move_away(int descriptor) {
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

int terminal_pager_start(const char *command) {
    int ends[2];
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    char *const line[] = {"/bin/sh", "-c", (char *)command, NULL};
    setenv("LESS", "FRX", 0);
    pid_t child = 0;
    if (error == 0) error = terminal_program_spawn(&actions, line, &child);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (error != 0) {
        close(ends[1]);
        return error;
    }
    own_output = move_away(1);
    dup2(ends[1], 1);
    close(ends[1]);
    pager = child;
    struct sigaction action = {0};
    action.sa_handler = end_without_pager;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before_interrupt);
    return 0;
}

int terminal_pager_finish(void) {
    if (pager == 0) return 0;
    dup2(own_output, 1);
    close(own_output);
    int status = 0;
    while (waitpid((pid_t)pager, &status, 0) < 0 && errno == EINTR) {}
    pager = 0;
    sigaction(SIGINT, &before_interrupt, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

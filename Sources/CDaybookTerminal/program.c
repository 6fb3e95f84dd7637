#include "CDaybookTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **words;
static size_t word_count;
static pid_t started;

void terminal_program_begin(void) {
    for (size_t index = 0; index < word_count; index++) free(words[index]);
    free(words);
    words = NULL;
    word_count = 0;
}

int terminal_program_add(const char *word) {
    char **longer = realloc(words, (word_count + 2) * sizeof *words);
    if (longer == NULL) return ENOMEM;
    words = longer;
    words[word_count] = strdup(word);
    if (words[word_count] == NULL) return ENOMEM;
    word_count += 1;
    words[word_count] = NULL;
    return 0;
}

// The signals of the keyboard are for the program while it runs. This is a handler because the
// program would inherit an ignored signal.
static void leave_to_program(int number) {
    (void)number;
}

int terminal_program_run(int reads_input) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return -error;
    if (!reads_input) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    }
    struct sigaction waiting = {0}, before_interrupt, before_quit;
    waiting.sa_handler = leave_to_program;
    waiting.sa_flags = SA_RESTART;
    sigaction(SIGINT, &waiting, &before_interrupt);
    sigaction(SIGQUIT, &waiting, &before_quit);
    pid_t child = 0;
    int status = 0;
    if (error == 0) error = posix_spawn(&child, words[0], &actions, NULL, words, environ);
    if (error == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    }
    sigaction(SIGINT, &before_interrupt, NULL);
    sigaction(SIGQUIT, &before_quit, NULL);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return -error;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int terminal_program_start(void) {
    int ends[2];
    if (pipe(ends) != 0) return -errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        if (error == 0) error = posix_spawn(&started, words[0], &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (error == 0) return ends[0];
    close(ends[0]);
    return -error;
}

int terminal_program_wait(void) {
    int status = 0;
    while (waitpid(started, &status, 0) < 0) {
        if (errno != EINTR) return 1;
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#include "CDaybookTerminal.h"
#include "starting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
static volatile sig_atomic_t interrupted;

static void leave_to_program(int number) {
    interrupted = number;
}

int terminal_program_spawn(posix_spawn_file_actions_t *actions, char *const *line, pid_t *child) {
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return error;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn(child, line[0], actions, &attributes, line, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static terminal_ending wait_for(pid_t child) {
    terminal_ending ending = {0};
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR) continue;
        ending.error = errno;
        return ending;
    }
    ending.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ending;
}

terminal_ending terminal_program_run(terminal_streams streams) {
    terminal_ending ending = {0};
    posix_spawn_file_actions_t actions;
    ending.error = posix_spawn_file_actions_init(&actions);
    if (ending.error != 0) return ending;
    if (streams != TERMINAL_SHARED) {
        ending.error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    }
    if (ending.error == 0 && streams == TERMINAL_TALK) {
        ending.error = posix_spawn_file_actions_adddup2(&actions, 2, 1);
    }
    interrupted = 0;
    struct sigaction waiting = {0}, before_interrupt, before_quit;
    waiting.sa_handler = leave_to_program;
    waiting.sa_flags = SA_RESTART;
    sigaction(SIGINT, &waiting, &before_interrupt);
    sigaction(SIGQUIT, &waiting, &before_quit);
    pid_t child = 0;
    if (ending.error == 0) ending.error = terminal_program_spawn(&actions, words, &child);
    if (ending.error == 0) ending = wait_for(child);
    // What a program answers that was interrupted is no answer, whatever it makes of the signal.
    if (ending.error == 0 && ending.signal == 0 && streams == TERMINAL_TALK) ending.signal = interrupted;
    sigaction(SIGINT, &before_interrupt, NULL);
    sigaction(SIGQUIT, &before_quit, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return ending;
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
        if (error == 0) error = terminal_program_spawn(&actions, words, &started);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (error == 0) return ends[0];
    close(ends[0]);
    return -error;
}

terminal_ending terminal_program_wait(void) {
    return wait_for(started);
}

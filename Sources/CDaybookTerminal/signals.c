#include "CDaybookTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static int ends[2] = {-1, -1};
static atomic_int came;

static void note_signal(int number) {
    int error = errno;
    atomic_store(&came, 1);
    unsigned char byte = (unsigned char)number;
    // A full pipe already holds a request.
    ssize_t count = write(ends[1], &byte, 1);
    (void)count;
    errno = error;
}

int terminal_signals_catch(terminal_signals signals) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    if (ends[0] >= 0) return -EALREADY;
    if (pipe(ends) != 0) return -errno;
    for (int index = 0; index < 2; index++) fcntl(ends[index], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        struct sigaction before;
        sigaction(numbers[index], NULL, &before);
        // For example, 'nohup' wants a signal ignored.
        if (before.sa_handler != SIG_DFL) continue;
        struct sigaction action = {0};
        action.sa_handler = note_signal;
        action.sa_flags = SA_RESTART | (signals == TERMINAL_FIRST_SIGNAL ? SA_RESETHAND : 0);
        sigaction(numbers[index], &action, NULL);
    }
    return ends[0];
}

int terminal_signals_came(void) {
    return atomic_load(&came);
}

_Noreturn void terminal_signals_end(int number) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    // To this thread: another might receive it only after the next statements.
    raise(number);
    _exit(128 + number);
}

#include "CDaybookTerminal.h"

#include <stddef.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

static int count;
static char **words;

// Swift reads the command line from /proc, and finds none where that is not mounted. The loader hands it to what runs
// before 'main', except on systems that do not.
__attribute__((constructor)) static void keep_arguments(int given, char **arguments) {
    if (given < 1 || arguments == NULL || arguments[0] == NULL) return;
    count = given;
    words = arguments;
}

int terminal_argument_count(void) { return count; }

const char *terminal_argument(int index) {
    return index >= 0 && index < count ? words[index] : NULL;
}

const char *terminal_own_program(void) {
#if defined(__linux__)
    // Also if another program has replaced this one in the folder meanwhile.
    if (access("/proc/self/exe", X_OK) == 0) return "/proc/self/exe";
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (started != NULL) return started;
#endif
    return count > 0 ? words[0] : NULL;
}

#include "CDaybookTerminal.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

static struct termios usual;
static int is_changed;

void terminal_keys_begin(void) {
    if (is_changed || tcgetattr(0, &usual) != 0) return;
    struct termios raw = usual;
    // The keys for signals count as keys, so that the terminal is never left in this mode.
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_changed = tcsetattr(0, TCSADRAIN, &raw) == 0;
}

int terminal_key(void) {
    unsigned char byte = 0;
    ssize_t count = read(0, &byte, 1);
    if (count == 1) return byte;
    return count < 0 && errno == EINTR ? -2 : -1;
}

void terminal_keys_end(void) {
    if (!is_changed) return;
    is_changed = 0;
    tcsetattr(0, TCSADRAIN, &usual);
}

// The whole screen, by ncurses.

#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "CDaybookTerminal.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static SCREEN *screen;
static int is_colored;

static int color_pair(screen_style style) {
    switch (style) {
    case SCREEN_ADDED: return 1;
    case SCREEN_CHANGED: return 2;
    case SCREEN_REMOVED: return 3;
    case SCREEN_NAME: return 4;
    default: return 0;
    }
}

int screen_begin(int wants_color) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
    // A key for escape is one at once, not after a second.
    set_escdelay(25);
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) return -1;
    // Keys for signals are keys, so that the terminal is never left as it is now.
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    curs_set(0);
    is_colored = wants_color && has_colors();
    if (is_colored) {
        start_color();
        use_default_colors();
        init_pair(1, COLOR_GREEN, -1);
        init_pair(2, COLOR_YELLOW, -1);
        init_pair(3, COLOR_RED, -1);
        init_pair(4, COLOR_CYAN, -1);
    }
    return 0;
}

void screen_end(void) {
    if (screen == NULL) return;
    endwin();
    delscreen(screen);
    screen = NULL;
}

int screen_rows(void) { return getmaxy(stdscr); }

int screen_columns(void) { return getmaxx(stdscr); }

void screen_erase(void) {
    // Signals of a new size may come together, and then ncurses may miss the last.
    struct winsize size;
    int is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    if (is_known && (size.ws_row != LINES || size.ws_col != COLS)) {
        resizeterm(size.ws_row, size.ws_col);
        screen_redraw();
    }
    erase();
}

// Adds a text where the cursor is, in so many columns. ncurses counts the columns of each code point; a text of several
// that look like one, as a family does, is as wide as all of them.
static void add_within(int width, const char *text) {
    mbstate_t state = {0};
    int used = 0;
    for (size_t rest = strlen(text); rest > 0;) {
        wchar_t character = 0;
        size_t length = mbrtowc(&character, text, rest, &state);
        if (length == 0 || length > rest) break;
        text += length;
        rest -= length;
        int columns = wcwidth(character);
        if (columns < 0) {
            // One that the system does not know is replaced.
            character = 0xFFFD;
            columns = 1;
        }
        if (used + columns > width) break;
        // An accent at the beginning would come over what is left of it.
        if (used + columns == 0) continue;
        addnwstr(&character, 1);
        used += columns;
    }
    for (; used < width; used++) addch(' ');
}

void screen_put(int row, int column, int width, const char *text, screen_style style, int is_reversed) {
    attr_t attributes = A_NORMAL;
    if (style == SCREEN_FAINT) attributes |= A_DIM;
    if (style == SCREEN_STRONG) attributes |= A_BOLD;
    // Without colours what changes stands out by other means.
    if (!is_colored && style == SCREEN_CHANGED) attributes |= A_BOLD;
    if (!is_colored && style == SCREEN_ADDED) attributes |= A_BOLD;
    if (!is_colored && style == SCREEN_REMOVED) attributes |= A_UNDERLINE;
    if (is_reversed) attributes |= A_REVERSE;
    attr_set(attributes, (short)(is_colored ? color_pair(style) : 0), NULL);
    move(row, column);
    add_within(width, text);
    attr_set(A_NORMAL, 0, NULL);
}

void screen_show(int cursor_row, int cursor_column) {
    if (cursor_row < 0) {
        curs_set(0);
    } else {
        curs_set(1);
        move(cursor_row, cursor_column);
    }
    refresh();
}

void screen_redraw(void) { clearok(curscr, TRUE); }

int screen_key(int milliseconds) {
    timeout(milliseconds);
    wint_t key = 0;
    switch (get_wch(&key)) {
    case OK: return (int)key;
    case KEY_CODE_YES: break;
    default: {
        // A terminal that has gone gives no key at once, for ever.
        struct pollfd input = {0, POLLIN, 0};
        int is_gone = poll(&input, 1, 0) == 1 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        return is_gone ? SCREEN_CLOSED : SCREEN_NO_KEY;
    }
    }
    switch (key) {
    case KEY_UP: return SCREEN_UP;
    case KEY_DOWN: return SCREEN_DOWN;
    case KEY_LEFT: return SCREEN_LEFT;
    case KEY_RIGHT: return SCREEN_RIGHT;
    case KEY_PPAGE: return SCREEN_PAGE_UP;
    case KEY_NPAGE: return SCREEN_PAGE_DOWN;
    case KEY_HOME: return SCREEN_HOME;
    case KEY_END: return SCREEN_END;
    case KEY_ENTER: return '\r';
    case KEY_BACKSPACE: return 0x7F;
    case KEY_BTAB: return '\t';
    case KEY_RESIZE: return SCREEN_RESIZED;
    default: return SCREEN_OTHER_KEY;
    }
}

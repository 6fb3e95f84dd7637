#include "CDaybookTerminal.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LENGTH = 1000, OFFERS_MAXIMUM = 500, OFFERS_SHOWN = 100 };

static EditLine *editor;
static History *entries;
static char *history_path;
static char *prompt_text;
static char *line_text;
static terminal_completer complete;
static char *offers[OFFERS_MAXIMUM];
static int offer_count;
static volatile sig_atomic_t interrupted;
static sigset_t mask_of_waiting;

// Completion

void terminal_editor_offer(const char *word) {
    if (offer_count == OFFERS_MAXIMUM) return;
    char *copy = strdup(word);
    if (copy != NULL) offers[offer_count++] = copy;
}

static size_t common_length(void) {
    size_t length = strlen(offers[0]);
    for (int index = 1; index < offer_count; index++) {
        size_t same = 0;
        while (same < length && offers[index][same] == offers[0][same]) same++;
        length = same;
    }
    // Not in the middle of a character.
    while (length > 0 && ((unsigned char)offers[0][length] & 0xC0) == 0x80) length--;
    return length;
}

static void list_offers(void) {
    fputc('\n', stdout);
    for (int index = 0; index < offer_count && index < OFFERS_SHOWN; index++) {
        fprintf(stdout, index == 0 ? "%s" : "  %s", offers[index]);
    }
    if (offer_count > OFFERS_SHOWN) fputs("  …", stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static unsigned char complete_word(EditLine *line_editor, int key) {
    (void)key;
    const LineInfo *info = el_line(line_editor);
    size_t length = (size_t)(info->cursor - info->buffer);
    char *line = malloc(length + 1);
    if (line == NULL) return CC_ERROR;
    memcpy(line, info->buffer, length);
    line[length] = 0;
    size_t start = length;
    while (start > 0 && line[start - 1] != ' ') start--;
    size_t typed = length - start;

    offer_count = 0;
    complete(line);
    unsigned char result = CC_ERROR;
    if (offer_count > 0) {
        size_t common = common_length();
        if (common > typed) {
            char *rest = strndup(offers[0] + typed, common - typed);
            if (rest != NULL) el_insertstr(line_editor, rest);
            free(rest);
            result = CC_REFRESH;
        }
        char last = common > 0 ? offers[0][common - 1] : 0;
        if (offer_count == 1) {
            if (last != '/' && last != '.' && last != '=') el_insertstr(line_editor, " ");
            result = CC_REFRESH;
        } else if (common <= typed) {
            list_offers();
            result = CC_REDISPLAY;
        }
    }
    for (int index = 0; index < offer_count; index++) free(offers[index]);
    offer_count = 0;
    free(line);
    return result;
}

// Lines

static char *give_prompt(EditLine *line_editor) {
    (void)line_editor;
    return prompt_text;
}

static void note_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

// Control-C is accepted only during the wait for a key, so it cannot come between the last test of
// `interrupted` and the wait, where it would take effect only at the next key.
static int read_key(EditLine *line_editor, wchar_t *key) {
    (void)line_editor;
    char bytes[MB_LEN_MAX];
    size_t count = 0;
    while (count < sizeof bytes) {
        fd_set input;
        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        if (pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &mask_of_waiting) < 0) {
            if (errno == EINTR && !interrupted) continue;
            return -1;
        }
        ssize_t length = read(STDIN_FILENO, bytes + count, 1);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return (int)length;
        count += 1;
        mbstate_t state = {0};
        size_t used = mbrtowc(key, bytes, count, &state);
        if (used == (size_t)-2) continue;
        if (used == (size_t)-1) *key = L'?';
        return 1;
    }
    *key = L'?';
    return 1;
}

int terminal_editor_open(const char *name, const char *path, terminal_completer completer) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
    editor = el_init(name, stdin, stdout, stderr);
    entries = history_init();
    history_path = strdup(path);
    if (editor == NULL || entries == NULL || history_path == NULL) return -1;
    complete = completer;
    HistEvent event;
    history(entries, &event, H_SETSIZE, HISTORY_LENGTH);
    history(entries, &event, H_SETUNIQUE, 1);
    history(entries, &event, H_LOAD, history_path);
    el_set(editor, EL_HIST, history, entries);
    el_set(editor, EL_PROMPT, give_prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_GETCFN, read_key);
    el_set(editor, EL_ADDFN, "daybook-complete", "Complete the word", complete_word);
    el_set(editor, EL_BIND, "^I", "daybook-complete", NULL);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(editor, NULL);
    return 0;
}

int terminal_editor_read(const char *prompt) {
    free(prompt_text);
    free(line_text);
    line_text = NULL;
    prompt_text = strdup(prompt);
    if (prompt_text == NULL) return TERMINAL_END;

    interrupted = 0;
    struct sigaction action = {0}, before;
    action.sa_handler = note_interrupt;
    sigaction(SIGINT, &action, &before);
    sigset_t held, usual;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, &usual);
    mask_of_waiting = usual;
    sigdelset(&mask_of_waiting, SIGINT);
    int count = 0;
    // Otherwise libedit shows the prompt first, and a key that is pressed before the terminal is in
    // single-key mode, such as Control-D, has another meaning.
    el_set(editor, EL_PREP_TERM, 1);
    const char *line = el_gets(editor, &count);
    sigaction(SIGINT, &before, NULL);
    sigprocmask(SIG_SETMASK, &usual, NULL);
    if (interrupted) {
        el_reset(editor);
        fputs("^C\n", stdout);
        fflush(stdout);
        return TERMINAL_INTERRUPTED;
    }
    if (line == NULL || count <= 0) return TERMINAL_END;
    line_text = strdup(line);
    if (line_text == NULL) return TERMINAL_END;
    line_text[strcspn(line_text, "\r\n")] = 0;
    return TERMINAL_LINE;
}

const char *terminal_editor_line(void) {
    return line_text == NULL ? "" : line_text;
}

void terminal_editor_remember(const char *line) {
    HistEvent event;
    history(entries, &event, H_ENTER, line);
}

int terminal_editor_save(void) {
    HistEvent event;
    return history(entries, &event, H_SAVE, history_path) < 0 ? -1 : 0;
}

void terminal_editor_close(void) {
    if (editor != NULL) el_end(editor);
    if (entries != NULL) history_end(entries);
    free(history_path);
    editor = NULL;
    entries = NULL;
    history_path = NULL;
}

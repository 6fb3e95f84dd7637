// The tool's use of a terminal as far as it needs pointers, signals and processes: libedit, the
// pager, and programs that share the terminal.
//
// One thread calls all of it. Texts are UTF-8 and end with a zero byte.

#ifndef CTERMINAL_H
#define CTERMINAL_H

// The process

// How many words the command line has, with the name of the program; 0 where the system does not hand them out.
int terminal_argument_count(void);

// A word of the command line.
const char *terminal_argument(int index);

// A path by which this program can be started again; NULL when there is none.
const char *terminal_own_program(void);

// Programs

// Forgets the words of the last program.
void terminal_program_begin(void);

// Adds a word to the command line of the next program, the program's file first. Returns 0 or the
// number of the error.
int terminal_program_add(const char *word);

// How a program ended.
typedef struct {
    // The number of the error if it could not be started; 0 otherwise.
    int error;
    // Its exit code.
    int code;
    // The number of the signal that ended it; 0 when none did.
    int signal;
} terminal_ending;

// The standard streams of a program: those of this process; the same, but an empty input; the same as
// that, but what it prints goes to standard error.
typedef enum { TERMINAL_SHARED, TERMINAL_NO_INPUT, TERMINAL_TALK } terminal_streams;

// Runs the program in this process group, so that it may read from the terminal and the keys that
// stop this process also stop it, and waits for its end.
terminal_ending terminal_program_run(terminal_streams streams);

// Starts the program beside this process, with a pipe from its output and an empty input. Returns
// the descriptor of its output, or the negative number of the error.
int terminal_program_start(void);

// Waits for the end of the program that was started.
terminal_ending terminal_program_wait(void);

// Signals

// Which signals are caught: each that comes, or only the first, so that a second one ends the process.
typedef enum { TERMINAL_EACH_SIGNAL, TERMINAL_FIRST_SIGNAL } terminal_signals;

// Takes the signals by which a user ends a program, SIGINT, SIGTERM and SIGHUP, as bytes from now on;
// those that the process ignores stay ignored. Once in a process. Returns the descriptor that gives
// their numbers, or the negative number of the error.
int terminal_signals_catch(terminal_signals signals);

// Whether one of them has come. Any thread may ask.
int terminal_signals_came(void);

// Ends this process by a signal, as if it had not been caught.
_Noreturn void terminal_signals_end(int number);

// The pager

// Starts `command` with a shell and puts it between this process and standard output. Returns 0 or
// the number of the error.
int terminal_pager_start(const char *command);

// Ends the pager's input, waits for its end, and restores standard output. Returns the pager's exit
// code, or 0 when there was none.
int terminal_pager_finish(void);

// Keys

// Makes the terminal deliver single keys, including those for signals, without showing them. Call
// it before asking the user for a key.
void terminal_keys_begin(void);

// Waits for a key. Returns the byte, -1 at the end of the input, -2 when a signal came in between.
int terminal_key(void);

// Restores the terminal.
void terminal_keys_end(void);

// The screen

// How a text looks.
typedef enum {
    SCREEN_PLAIN, SCREEN_FAINT, SCREEN_STRONG, SCREEN_NAME, SCREEN_ADDED, SCREEN_CHANGED, SCREEN_REMOVED
} screen_style;

// Keys that are not characters.
enum {
    SCREEN_NO_KEY = -1, SCREEN_OTHER_KEY = -2, SCREEN_UP = -3, SCREEN_DOWN = -4, SCREEN_LEFT = -5,
    SCREEN_RIGHT = -6, SCREEN_PAGE_UP = -7, SCREEN_PAGE_DOWN = -8, SCREEN_HOME = -9, SCREEN_END = -10,
    SCREEN_RESIZED = -11, SCREEN_CLOSED = -12
};

// Takes the whole terminal, with colours if they are wanted and it has some. Returns 0, or -1 when the terminal's
// kind is not known.
int screen_begin(int wants_color);

// Gives the terminal back as it was.
void screen_end(void);

int screen_rows(void);
int screen_columns(void);

// Begins a picture of the terminal's size.
void screen_erase(void);

// Puts a text without control characters into it, in so many columns of a row: what does not fit into them is left out,
// and what is left of them is blank.
void screen_put(int row, int column, int width, const char *text, screen_style style, int is_reversed);

// Shows the picture, with the cursor at a place; none for a negative row.
void screen_show(int cursor_row, int cursor_column);

// Makes the next picture be drawn from nothing, whatever others have written.
void screen_redraw(void);

// Waits for a key, at most so long. Returns the character, or one of the keys above.
int screen_key(int milliseconds);

// Lines

// Called with the text before the cursor when the key for completion is pressed; calls
// `terminal_editor_offer` for each completion of the last word.
typedef void (*terminal_completer)(const char *line);

// Opens the line editor with the history of a file, which need not exist. Returns 0, or -1 when
// there is no memory or no terminal.
int terminal_editor_open(const char *name, const char *history_path, terminal_completer completer);

// Offers a word to replace the one before the cursor. Only inside of a completer.
void terminal_editor_offer(const char *word);

// The result of reading a line.
enum { TERMINAL_LINE = 0, TERMINAL_END = 1, TERMINAL_INTERRUPTED = 2 };

// Reads a line into `terminal_editor_line`.
int terminal_editor_read(const char *prompt);

// The last line read, without its line end; valid until the next one is read.
const char *terminal_editor_line(void);

// Adds a line to the history.
void terminal_editor_remember(const char *line);

// Writes the history to its file. Returns 0, or -1 when it cannot be written.
int terminal_editor_save(void);

void terminal_editor_close(void);

#endif

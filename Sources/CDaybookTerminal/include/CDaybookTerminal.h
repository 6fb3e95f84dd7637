// The tool's use of a terminal as far as it needs pointers, signals and processes: libedit, the
// pager, and programs that share the terminal.
//
// One thread calls all of it. Texts are UTF-8 and end with a zero byte.

#ifndef CTERMINAL_H
#define CTERMINAL_H

// Programs

// Forgets the words of the last program.
void terminal_program_begin(void);

// Adds a word to the command line of the next program, the program's file first. Returns 0 or the
// number of the error.
int terminal_program_add(const char *word);

// Runs the program in this process group, so that it may read from the terminal and the keys that
// stop this process also stop it, and waits for its end. Without `reads_input` its input is empty.
// Returns its exit code, or 128 and the number of the signal that ended it; the negative number of
// the error if it could not be started.
int terminal_program_run(int reads_input);

// Starts the program beside this process, with a pipe from its output and an empty input. Returns
// the descriptor of its output, or the negative number of the error.
int terminal_program_start(void);

// Waits for the end of the program that was started. Returns its exit code, or the negative number of
// the signal that ended it.
int terminal_program_wait(void);

// Signals

// From now on delivers the signals with which a user ends a program, SIGINT, SIGTERM and SIGHUP, as
// bytes; those that the process ignores stay ignored. Returns the descriptor of their numbers, or
// the negative number of the error.
int terminal_signals_catch(void);

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

/* One line on standard error that says how far a long command is; only where that is a terminal. */
#ifndef COMMANDS_PROGRESS_BAR_H
#define COMMANDS_PROGRESS_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_bar {
        const char *label; /* a literal */
        int64_t total;
        bool on, drawn;
        int64_t drawn_ms;
};

/* Off when standard error is no terminal, or there is nothing to do. */
void progress_bar_begin(struct progress_bar *bar, const char *label, int64_t total);
/* Draws at most ten times a second. */
void progress_bar_show(struct progress_bar *bar, int64_t done);
/* Takes the line away: before other output on a terminal, and at the end. */
void progress_bar_clear(struct progress_bar *bar);

/*
 * The line's text without colours or newline, at most capacity - 1 bytes:
 * "replay [##########----------]  50% 500/1000". done beyond total is shown as total.
 */
void progress_bar_text(char *buffer, size_t capacity, const char *label, int64_t done,
                       int64_t total);

#endif

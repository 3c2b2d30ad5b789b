#include "commands/progress_bar.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { CELLS = 30, LINE_BYTES = 128, DRAW_EVERY_MS = 100, PERCENT = 100 };

void progress_bar_text(char *buffer, size_t capacity, const char *label, int64_t done,
                       int64_t total)
{
        char cells[CELLS + 1];
        if (done < 0)
                done = 0;
        if (done > total)
                done = total;
        /* Divided first where it is large: a product would not fit. */
        int64_t part = total <= 0                    ? PERCENT
                       : total > INT64_MAX / PERCENT ? done / (total / PERCENT)
                                                     : done * PERCENT / total;
        if (part > PERCENT)
                part = PERCENT;
        memset(cells, '-', CELLS);
        memset(cells, '#', (size_t)(part * CELLS / PERCENT));
        cells[CELLS] = '\0';
        snprintf(buffer, capacity, "%s [%s] %3d%% %lld/%lld", label, cells, (int)part,
                 (long long)done, (long long)total);
}

void progress_bar_begin(struct progress_bar *bar, const char *label, int64_t total)
{
        *bar = (struct progress_bar){ .label = label, .total = total };
        bar->on = total > 0 && isatty(STDERR_FILENO) == 1;
}

void progress_bar_show(struct progress_bar *bar, int64_t done)
{
        char line[LINE_BYTES];
        int64_t now_ms = clock_ms();
        if (!bar->on || (bar->drawn && now_ms - bar->drawn_ms < DRAW_EVERY_MS))
                return;
        progress_bar_text(line, sizeof line, bar->label, done, bar->total);
        fprintf(stderr, "\r%s\033[K", line);
        fflush(stderr);
        bar->drawn = true;
        bar->drawn_ms = now_ms;
}

void progress_bar_clear(struct progress_bar *bar)
{
        if (!bar->drawn)
                return;
        fputs("\r\033[K", stderr);
        fflush(stderr);
        bar->drawn = false;
}

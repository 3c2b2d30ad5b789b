#include "config/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
        WORD_BYTES_MAX = 64, /* longer words get the list */
        DISTANCE_MAX = 2,
};

static size_t min_of(size_t a, size_t b)
{
        return a < b ? a : b;
}

/* Insertions, deletions and replacements from a to b, both at most WORD_BYTES_MAX long. */
static size_t distance_of(const char *a, const char *b)
{
        size_t b_length = strlen(b);
        size_t row[WORD_BYTES_MAX + 1];
        for (size_t j = 0; j <= b_length; j++)
                row[j] = j;
        for (size_t i = 0; a[i] != '\0'; i++) {
                size_t diagonal = row[0];
                row[0] = i + 1;
                for (size_t j = 0; j < b_length; j++) {
                        size_t above = row[j + 1];
                        int same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
                        row[j + 1] = min_of(diagonal + !same, min_of(above, row[j]) + 1);
                        diagonal = above;
                }
        }
        return row[b_length];
}

static const char *nearest(const char *word, const char *const *known)
{
        const char *best = NULL;
        size_t best_distance = DISTANCE_MAX + 1;
        if (strlen(word) > WORD_BYTES_MAX)
                return NULL;
        for (; *known != NULL; known++) {
                size_t length = strlen(*known);
                if (length > WORD_BYTES_MAX)
                        continue;
                size_t distance = distance_of(word, *known);
                /* More than half of a short word replaced is another word. */
                if (distance < best_distance && distance * 2 <= length) {
                        best = *known;
                        best_distance = distance;
                }
        }
        return best;
}

void nearest_hint(char *buffer, size_t buffer_bytes, const char *word, const char *const *known)
{
        const char *meant = nearest(word, known);
        if (meant != NULL) {
                snprintf(buffer, buffer_bytes, "did you mean \"%s\"?", meant);
                return;
        }
        size_t used = 0;
        const char *before = "known: ";
        for (; *known != NULL && used < buffer_bytes; known++) {
                int more = snprintf(buffer + used, buffer_bytes - used, "%s%s", before, *known);
                used += more > 0 ? (size_t)more : 0;
                before = ", ";
        }
        if (used == 0)
                snprintf(buffer, buffer_bytes, "none is known");
}

/*
 * What a person probably meant by a word that is not known. For complaints only.
 */
#ifndef CONFIG_NEAREST_H
#define CONFIG_NEAREST_H

#include <stddef.h>

/*
 * Writes `did you mean "port"?` when one of the known words (NULL-terminated) differs by at most
 * two letters, apart from case, else `known: host, port`; cut at buffer_bytes.
 */
void nearest_hint(char *buffer, size_t buffer_bytes, const char *word, const char *const *known);

#endif

#include "base/topic_match.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"

enum { REASON_BYTES = 128 };

struct place {
        const char *name;
        bool is_pattern; /* and compiled */
        regex_t pattern;
};

struct topic_match {
        struct place *places;
        size_t count;
        char last_topic[TOPIC_BYTES];
        size_t last_place;
};

bool topic_is_pattern(const char *name)
{
        return name[0] == '^';
}

static enum po_class place_fill(struct place *place, const char *name, struct po_error *error)
{
        place->name = name;
        if (!topic_is_pattern(name))
                return PO_OK;
        int refused = regcomp(&place->pattern, name, REG_EXTENDED | REG_NOSUB);
        if (refused != 0) {
                char reason[REASON_BYTES];
                regerror(refused, &place->pattern, reason, sizeof reason);
                return po_fail(error, PO_SYSTEMIC, 0, "\"%s\" is no pattern: %s", name, reason);
        }
        place->is_pattern = true;
        return PO_OK;
}

static void match_drop(struct topic_match **match)
{
        topic_match_close(*match);
}

enum po_class topic_match_open(struct topic_match **match_out, const char *const *names,
                               size_t count, struct po_error *error)
{
        CLEANUP(match_drop) struct topic_match *match = calloc(1, sizeof *match);
        if (match != NULL)
                match->places = calloc(count > 0 ? count : 1, sizeof *match->places);
        if (match == NULL || match->places == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for %zu topics", count);
        for (; match->count < count; match->count++)
                if (place_fill(&match->places[match->count], names[match->count], error) != PO_OK)
                        return error->kind;
        *match_out = MOVE(match);
        return PO_OK;
}

void topic_match_close(struct topic_match *match)
{
        if (match == NULL)
                return;
        for (size_t i = 0; i < match->count; i++)
                if (match->places[i].is_pattern)
                        regfree(&match->places[i].pattern);
        free(match->places);
        free(match);
}

static size_t search(const struct topic_match *match, const char *topic)
{
        for (size_t i = 0; i < match->count; i++)
                if (!match->places[i].is_pattern && strcmp(match->places[i].name, topic) == 0)
                        return i;
        for (size_t i = 0; i < match->count; i++)
                if (match->places[i].is_pattern &&
                    regexec(&match->places[i].pattern, topic, 0, NULL, 0) == 0)
                        return i;
        return match->count;
}

size_t topic_match_find(struct topic_match *match, const char *topic)
{
        if (match->last_topic[0] != '\0' && strcmp(match->last_topic, topic) == 0)
                return match->last_place;
        size_t place = search(match, topic);
        if (strlen(topic) < sizeof match->last_topic) {
                snprintf(match->last_topic, sizeof match->last_topic, "%s", topic);
                match->last_place = place;
        }
        return place;
}

bool topic_pattern_matches(const char *pattern, const char *topic)
{
        struct place place = { 0 };
        struct po_error ignored;
        if (place_fill(&place, pattern, &ignored) != PO_OK || !place.is_pattern)
                return false;
        bool matches = regexec(&place.pattern, topic, 0, NULL, 0) == 0;
        regfree(&place.pattern);
        return matches;
}

#include "relay/route.h"

#include <string.h>

#include "base/text.h"

static bool is_topic(const char *name)
{
        return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
               name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789._-")] == '\0';
}

bool route_topic(const char *pattern, const char *aggregatetype, char topic_out[TOPIC_BYTES])
{
        static const char place[] = "{aggregatetype}";
        struct text topic;
        text_init(&topic, topic_out, TOPIC_BYTES);
        for (const char *at; (at = strstr(pattern, place)) != NULL;) {
                text_format(&topic, "%.*s%s", (int)(at - pattern), pattern, aggregatetype);
                pattern = at + sizeof place - 1;
        }
        text_put(&topic, pattern);
        return !topic.cut && is_topic(topic_out);
}

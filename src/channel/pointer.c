#include "channel/pointer.h"

#include <string.h>

_Static_assert(POINTER_BYTES <= UINT8_MAX + 1, "a step is found by a uint8_t");

/* Copies one step's name without its escapes; returns where the step ends, or NULL: a bad escape.
 */
static const char *step_copy(const char *at, char *name, size_t *name_length_out)
{
        size_t length = 0;
        for (; *at != '\0' && *at != '/' && *at != '|'; at++) {
                char byte = *at;
                if (byte == '~') {
                        at++;
                        if (*at != '0' && *at != '1')
                                return NULL;
                        byte = *at == '0' ? '~' : '/';
                }
                name[length++] = byte;
        }
        name[length] = '\0';
        *name_length_out = length;
        return at;
}

const char *pointer_compile(struct pointer *pointer_out, const char *text)
{
        struct pointer pointer = { .source = text };
        size_t steps = 0, used = 0;

        if (strlen(text) >= POINTER_BYTES)
                return "the pointer is too long";
        const char *at = text;
        do {
                if (pointer.paths == POINTER_PATHS_MAX)
                        return "the pointer has too many alternatives";
                char origin = *at;
                at += origin == '@' || origin == '#';
                if (*at != '/')
                        return "a pointer starts with '/', \"@/\" or \"#/\"";
                pointer.origin[pointer.paths] = origin;
                while (*at == '/') {
                        if (steps == POINTER_STEPS_MAX)
                                return "the pointer has too many steps";
                        pointer.step[steps++] = (uint8_t)used;
                        size_t name_length;
                        at = step_copy(at + 1, pointer.names + used, &name_length);
                        if (at == NULL)
                                return "'~' stands only in '~0' for itself and '~1' for '/'";
                        used += name_length + 1;
                }
                pointer.path_end[pointer.paths++] = (uint8_t)steps;
        } while (*at++ == '|');
        *pointer_out = pointer;
        return NULL;
}

/* A list's index: digits without leading zeros, else (size_t)-1, which no list has. */
static size_t list_index(const char *name)
{
        size_t index = 0;
        if (name[0] == '\0' || (name[0] == '0' && name[1] != '\0') || strlen(name) > 9)
                return (size_t)-1;
        for (; *name != '\0'; name++) {
                if (*name < '0' || *name > '9')
                        return (size_t)-1;
                index = index * 10 + (size_t)(*name - '0');
        }
        return index;
}

static struct json_object *step_follow(struct json_object *value, const char *name)
{
        struct json_object *next = NULL;
        if (json_object_is_type(value, json_type_object))
                json_object_object_get_ex(value, name, &next);
        if (json_object_is_type(value, json_type_array))
                next = json_object_array_get_idx(value, list_index(name));
        return next;
}

static bool value_is_something(struct json_object *value)
{
        return value != NULL && !(json_object_is_type(value, json_type_string) &&
                                  json_object_get_string_len(value) == 0);
}

bool pointer_starts_at(const struct pointer *pointer, char origin)
{
        return memchr(pointer->origin, origin, pointer->paths) != NULL;
}

static struct json_object *origin_tree(const struct scope *scope, char origin)
{
        return origin == '@' ? scope->item : origin == '#' ? scope->headers : scope->root;
}

struct json_object *pointer_find(const struct pointer *pointer, const struct scope *scope)
{
        size_t step = 0;
        for (size_t path = 0; path < pointer->paths; path++) {
                struct json_object *value = origin_tree(scope, pointer->origin[path]);
                for (; step < pointer->path_end[path]; step++)
                        value = step_follow(value, pointer->names + pointer->step[step]);
                if (value_is_something(value))
                        return value;
        }
        return NULL;
}

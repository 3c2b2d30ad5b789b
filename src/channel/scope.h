/* What pointers lead through while a record is decoded: borrowed trees, each may be NULL. */
#ifndef CHANNEL_SCOPE_H
#define CHANNEL_SCOPE_H

#include <json-c/json_object.h>

struct trace;

struct scope {
        struct json_object *root;    /* the body: "/a/b" */
        struct json_object *item;    /* of the list that is unrolled: "@/a/b" */
        struct json_object *headers; /* of the record, an object of texts: "#/name" */
        const struct trace *trace;   /* who wants to know what is tried, or NULL; see trace.h */
};

#endif

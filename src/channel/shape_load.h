/*
 * The members of a profile that say how bodies are read, from YAML; shape.h is what they become.
 *
 *   body: json                # form, xml, cloudevents; envelope, postonce's own, stands alone
 *   charset: { field: charset, default: utf-8 }   # a form's field, or what all bodies are in
 *   verify: { … }             # verify_load.h
 *   unwrap: [ … ]              # unwrap_load.h
 *   guard: [[/livemode, eq, true]]                # must hold, else GUARD_FAILED
 *   each: /notificationItems        # the body is a list of things: rules see them one by one, @/…
 *   item: /NotificationRequestItem  # ... which stand here in the list's elements
 *   exponents: { ISK: 2, UGX: 2 }   # decimals of the channel's minor units, not ISO 4217's
 *   rules: [ … ]                    # rule_load.h
 *
 * In an entry of "shapes", in front of these: what tells the shape from the others.
 *
 *   first: "{"                                        # the body's first byte
 *   when: [["#/content-type", prefix, application/]]    # of the record's headers
 */
#ifndef CHANNEL_SHAPE_LOAD_H
#define CHANNEL_SHAPE_LOAD_H

#include "channel/condition_load.h"
#include "channel/shape.h"
#include "channel/unwrap_load.h"
#include "channel/verify_load.h"
#include "config/schema.h"

/* The fields of a struct shape at offset base, as rows of a table; for profile.c and shape_load.c
 */
#define SHAPE_FIELDS(base)                                                                         \
        { .name = "body",                                                                          \
          .kind = FIELD_CUSTOM,                                                                    \
          .offset = (base) + offsetof(struct shape, body),                                         \
          .fallback = "json",                                                                      \
          .reader = shape_read_body,                                                               \
          .help = "json, form, xml or cloudevents; envelope for postonce's own form" },            \
                { .name = "charset",                                                               \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, charset),                              \
                  .reader = shape_read_charset,                                                    \
                  .help = "{ field, default }: utf-8, gbk, gb2312 or gb18030" },                   \
                { .name = "verify",                                                                \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, verify),                               \
                  .reader = read_verify,                                                           \
                  .help = "what proves that the channel wrote it; see verify_load.h" },            \
                { .name = "unwrap",                                                                \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, unwrap),                               \
                  .reader = read_unwrap,                                                           \
                  .help = "what in a body is decrypted or parsed before anything else" },          \
                { .name = "guard",                                                                 \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, guard),                                \
                  .reader = read_conditions,                                                       \
                  .help = "conditions that every body must meet, else it is refused" },            \
                { .name = "each",                                                                  \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, each),                                 \
                  .reader = read_pointer,                                                          \
                  .help = "the list that the body is; rules see its items one by one" },           \
                { .name = "item",                                                                  \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, item),                                 \
                  .reader = read_pointer,                                                          \
                  .help = "where the item stands in an element of the list" },                     \
                { .name = "exponents",                                                             \
                  .kind = FIELD_CUSTOM,                                                            \
                  .offset = (base) + offsetof(struct shape, exponents),                            \
                  .reader = shape_read_exponents,                                                  \
                  .help = "decimals of the channel's minor units where ISO 4217 has others" },     \
        {                                                                                          \
                .name = "rules", .kind = FIELD_CUSTOM,                                             \
                .offset = (base) + offsetof(struct shape, rules), .reader = shape_read_nothing,    \
                .help = "what a body means, the first rule that matches wins"                      \
        }

PO_MUST_USE enum po_class shape_read_body(const struct node *node, const struct field *field,
                                          void *target, struct po_error *error);
PO_MUST_USE enum po_class shape_read_charset(const struct node *node, const struct field *field,
                                             void *target, struct po_error *error);
PO_MUST_USE enum po_class shape_read_exponents(const struct node *node, const struct field *field,
                                               void *target, struct po_error *error);
/* Rules are read by shape_finish(): what they may say depends on the rest. */
PO_MUST_USE enum po_class shape_read_nothing(const struct node *node, const struct field *field,
                                             void *target, struct po_error *error);

/* After the fields of the map at node: its rules, and whether all of it goes together. */
PO_MUST_USE enum po_class shape_finish(const struct node *node, struct shape *shape,
                                       struct po_error *error);

/* An entry of "shapes". shape is zeroed by the caller, who closes it also when this fails. */
PO_MUST_USE enum po_class shape_load(const struct node *node, struct shape *shape,
                                     struct po_error *error);
/* Frees what the shape owns, not the struct. */
void shape_reset(struct shape *shape);

#endif

/*
 * Failpoints: where a test strikes. One at a protocol step; gone from a release build.
 *
 * POSTONCE_FAILPOINTS="name=action@n,…": at the n-th pass (1 and up; default 1) of that point
 *   kill    SIGKILL to this process
 *   freeze  SIGSTOP to this process; goes on when somebody sends SIGCONT
 *   error   the point reports PO_TRANSIENT (once)
 *   bug     the point reports PO_BUG (once)
 *   errors  PO_TRANSIENT from the n-th pass on, every time
 */
#ifndef BASE_FAILPOINT_H
#define BASE_FAILPOINT_H

#include "postonce/error.h"

#ifdef PO_FAILPOINTS
/* Reads POSTONCE_FAILPOINTS; a wrong one is an error that names it. */
PO_MUST_USE enum po_class failpoint_init(struct po_error *error);
enum po_class failpoint_hit(const char *name, struct po_error *error);
#define PO_FAILPOINT(name) failpoint_hit(name, error)
#else
#define failpoint_init(error) ((void)(error), PO_OK)
#define PO_FAILPOINT(name)    ((void)(error), PO_OK)
#endif

#endif

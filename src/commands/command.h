/*
 * A command: one short file that reads its options, opens what it needs, calls, prints, and says
 * how it ended. main.c has the table of all.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "postonce/error.h"

/* The numbers are those of sysexits.h where it has one. */
enum exit_code {
        EXIT_DONE = 0,
        EXIT_FINDINGS = 1,       /* it worked, and found what somebody must look at */
        EXIT_USAGE = 64,         /* wrong command line; nothing was done */
        EXIT_AWAY = 69,          /* broker or database not reached: the same again later may work */
        EXIT_BUG = 70,           /* what must not be */
        EXIT_UNDRAINED = 75,     /* stopped before everything was settled */
        EXIT_CONFIGURATION = 78, /* configuration, permissions or schema: a person must mend it */
};

/* How a command ends that ends with an error of this class. */
enum exit_code exit_code_of(enum po_class kind);

struct command {
        const char *name;
        const char *help; /* one line */
        /* argv[0] is the command's name; returns an enum exit_code. */
        int (*run)(int argc, char **argv);
};

/* A program, or a command that has commands of its own (`postonce order`). */
struct command_set {
        const char *name;               /* as it is typed: "postonce", "postonce order" */
        const char *summary;            /* one line or more, without a newline at the end */
        const char *version;            /* NULL: takes no --version */
        const struct command *commands; /* ends with one without a name */
};

/*
 * Runs the command that argv[1] names. --help, -h and help list them, `help NAME` is `NAME --help`;
 * none or an unknown one is EXIT_USAGE, with the nearest name.
 */
int command_dispatch(const struct command_set *set, int argc, char **argv);

/*
 * What every command of the process needs before it runs: a UTF-8 locale (so that tables show names
 * as they are), alarms counted, failpoints armed. SYSTEMIC: a wrong POSTONCE_FAILPOINTS.
 */
PO_MUST_USE enum po_class command_prepare(struct po_error *error);

/* Says "postonce: <text>" on standard error and returns exit_code_of() its class. */
int command_fail(const struct po_error *error);

/* Ends a process whose command returned code: output that could not be written is EXIT_BUG. */
int command_finish(int code);

/* The program's version: "0.1.0". */
extern const char version_text[];

int command_check(int argc, char **argv);
int command_claim(int argc, char **argv);
int command_dev_broker(int argc, char **argv);
int command_hold(int argc, char **argv);
int command_ledger(int argc, char **argv);
int command_migrate(int argc, char **argv);
int command_order(int argc, char **argv);
int command_park(int argc, char **argv);
int command_pause(int argc, char **argv);
int command_resume(int argc, char **argv);
int command_relay(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_refund(int argc, char **argv);
int command_run(int argc, char **argv);
int command_version(int argc, char **argv);

#endif

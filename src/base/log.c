#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "postonce/notification.h"

/* Room for an error text with every byte escaped, plus coordinates and key. */
enum { LINE_BYTES = 4096, QUOTED_BYTES = 2 * PO_ERROR_TEXT_BYTES, TIME_BYTES = 32 };

struct line {
        char text[LINE_BYTES];
        size_t length;
};

static enum log_level least_level = LOG_LEVEL_INFO;
static log_alarm_observer alarm_observer;

/* Of this thread: librdkafka's log callback speaks from threads of its own. */
static _Thread_local struct {
        bool set;
        char topic[TOPIC_BYTES];
        int partition;
        long long offset;
        char key[PO_KEY_BYTES];
} record_in_hand;

static const char *const level_words[] = {
        [LOG_LEVEL_DEBUG] = "debug",
        [LOG_LEVEL_INFO] = "info",
        [LOG_LEVEL_WARN] = "warn",
        [LOG_LEVEL_ERROR] = "error",
};
enum { LEVELS = sizeof level_words / sizeof level_words[0] };

void log_set_level(enum log_level least)
{
        least_level = least;
}

int log_level_parse(const char *word, enum log_level *level_out)
{
        for (int i = 0; i < LEVELS; i++) {
                if (strcmp(word, level_words[i]) == 0) {
                        *level_out = (enum log_level)i;
                        return 0;
                }
        }
        return -1;
}

void log_set_record(const char *topic, int partition, long long offset, const char *key)
{
        record_in_hand.set = true;
        record_in_hand.partition = partition;
        record_in_hand.offset = offset;
        text_copy(record_in_hand.topic, sizeof record_in_hand.topic, topic);
        text_copy(record_in_hand.key, sizeof record_in_hand.key, key == NULL ? "" : key);
}

void log_clear_record(void)
{
        record_in_hand.set = false;
}

static void append_list(struct line *line, const char *format, va_list arguments) PO_FORMAT(2, 0);

static void append_list(struct line *line, const char *format, va_list arguments)
{
        size_t room = sizeof line->text - line->length;
        int used = vsnprintf(line->text + line->length, room, format, arguments);
        if (used < 0)
                return;
        line->length += (size_t)used < room ? (size_t)used : room - 1;
}

static void append(struct line *line, const char *format, ...) PO_FORMAT(2, 3);

static void append(struct line *line, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        append_list(line, format, arguments);
        va_end(arguments);
}

/* The machine's clock, for people who read the log; nothing else in the program rests on it. */
static void append_time(struct line *line)
{
        struct timespec now;
        struct tm utc;
        char text[TIME_BYTES];
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &utc);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
        append(line, "time=%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void append_record(struct line *line, bool with_key)
{
        if (!record_in_hand.set)
                return;
        append(line, " topic=%s partition=%d offset=%lld", record_in_hand.topic,
               record_in_hand.partition, record_in_hand.offset);
        if (with_key && record_in_hand.key[0] != '\0')
                append(line, " key=%s", record_in_hand.key);
}

static void begin(struct line *line, enum log_level level, const char *event, bool with_key)
{
        line->length = 0;
        append_time(line);
        append(line, " level=%s event=%s", level_words[level], event);
        append_record(line, with_key);
}

/* Bytes of the well-formed UTF-8 sequence (RFC 3629) at text, or 0. */
static size_t utf8_bytes(const unsigned char *text, size_t left)
{
        size_t bytes = text[0] < 0x80                       ? 1
                       : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                       : text[0] >= 0xe0 && text[0] <= 0xef ? 3
                       : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                            : 0;
        if (bytes > left)
                return 0;
        for (size_t i = 1; i < bytes; i++)
                if ((text[i] & 0xc0) != 0x80)
                        return 0;
        if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
            (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
                return 0;
        return bytes;
}

/*
 * An event is one line of text whatever a format let in or a bound cut: nothing ends the line,
 * drives a terminal, or makes journald hide the line as "blob data".
 */
static void mask(struct line *line)
{
        unsigned char *text = (unsigned char *)line->text;
        for (size_t i = 0; i < line->length;) {
                size_t bytes = utf8_bytes(text + i, line->length - i);
                if (bytes == 0 || text[i] < 0x20 || text[i] == 0x7f) {
                        text[i] = '?';
                        bytes = 1;
                }
                i += bytes;
        }
}

/* One write(2) a line: processes that share a pipe do not mix theirs. A log that is gone is no
 * error. */
static void end(struct line *line)
{
        while (line->length > 0 && line->text[line->length - 1] == ' ')
                line->length--;
        mask(line);
        line->text[line->length++] = '\n';
        for (size_t done = 0; done < line->length;) {
                ssize_t wrote = write(STDERR_FILENO, line->text + done, line->length - done);
                if (wrote < 0 && errno == EINTR)
                        continue;
                if (wrote <= 0)
                        return;
                done += (size_t)wrote;
        }
}

bool log_is_on(enum log_level level)
{
        return level >= least_level;
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
        if (level < least_level)
                return;
        struct line line;
        begin(&line, level, event, true);
        append(&line, " ");
        va_list arguments;
        va_start(arguments, format);
        append_list(&line, format, arguments);
        va_end(arguments);
        end(&line);
}

void log_failure(enum log_level level, const char *event, const struct po_error *error)
{
        if (level < least_level)
                return;
        struct line line;
        char quoted[QUOTED_BYTES];
        begin(&line, level, event, true);
        append(&line, " class=%s code=%d", po_class_name(error->kind), error->code);
        if (error->reason != NULL)
                append(&line, " reason=%s", error->reason);
        append(&line, " error=%s", log_quote(quoted, sizeof quoted, error->text));
        end(&line);
}

void log_alarm(const char *code, const char *key, const char *format, ...)
{
        struct line line;
        begin(&line, LOG_LEVEL_ERROR, "alarm", key == NULL);
        append(&line, " alarm=%s", code);
        if (key != NULL)
                append(&line, " key=%s", key);
        append(&line, " ");
        va_list arguments;
        va_start(arguments, format);
        append_list(&line, format, arguments);
        va_end(arguments);
        end(&line);
        if (alarm_observer != NULL)
                alarm_observer(code);
}

void log_set_alarm_observer(log_alarm_observer observer)
{
        alarm_observer = observer;
}

/* What stands for one byte between quotes; NULL: the byte itself. */
static const char *escape(unsigned char byte, char hex[5])
{
        switch (byte) {
        case '"':
                return "\\\"";
        case '\\':
                return "\\\\";
        case '\n':
                return "\\n";
        case '\r':
                return "\\r";
        case '\t':
                return "\\t";
        }
        if (byte >= 0x20 && byte != 0x7f)
                return NULL;
        snprintf(hex, 5, "\\x%02x", byte);
        return hex;
}

const char *log_quote(char *buffer, size_t capacity, const char *text)
{
        if (capacity < sizeof "\"\"") {
                if (capacity > 0)
                        buffer[0] = '\0';
                return buffer;
        }
        size_t length = 0;
        buffer[length++] = '"';
        for (const char *at = text; *at != '\0'; at++) {
                char hex[5];
                const char *piece = escape((unsigned char)*at, hex);
                size_t bytes = piece == NULL ? 1 : strlen(piece);
                if (length + bytes + sizeof "\"" > capacity)
                        break;
                memcpy(buffer + length, piece == NULL ? at : piece, bytes);
                length += bytes;
        }
        buffer[length++] = '"';
        buffer[length] = '\0';
        return buffer;
}

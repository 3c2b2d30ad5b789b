#!/usr/bin/env python3
"""Writes the C file that carries the schema inside the program.

    embed.py OUTPUT.c FOLDER/NNN_name.sql ...

Refuses what the program could not apply: versions that are not 1, 2, 3 …, a file of the folder that the build
does not list, a text that does not end with a statement's end.
"""
import pathlib
import re
import sys

BYTES_A_LINE = 24


def version(path):
    found = re.fullmatch(r"(\d{3})_[a-z0-9_]+\.sql", path.name)
    if not found:
        sys.exit(f"embed.py: {path.name}: the name must be NNN_words.sql")
    return int(found.group(1))


def check(paths):
    versions = [version(path) for path in paths]
    if versions != list(range(1, len(versions) + 1)):
        sys.exit(f"embed.py: versions must be 1, 2, 3 ... in order, not {versions}")
    forgotten = {path.name for path in paths[0].parent.glob("[0-9]*.sql")} - {path.name for path in paths}
    if forgotten:
        sys.exit(f"embed.py: schema/meson.build does not list {', '.join(sorted(forgotten))}")
    for path in paths:
        lines = [line for line in path.read_text().splitlines() if not re.match(r"\s*(--|$)", line)]
        if not lines or not lines[-1].rstrip().endswith(";"):
            sys.exit(f"embed.py: {path.name}: the last statement must end with ';' at the end of its line")
        if split := [line for line in lines if re.search(r"-- .*;\s*$", line)]:
            sys.exit(f"embed.py: {path.name}: the comment would end the statement: {split[0].strip()}")


def text_of(path):
    """Numbers, since a string literal of that size is beyond what C11 promises."""
    data = path.read_bytes().rstrip() + b"\n\0"
    lines = [", ".join(map(str, data[at:at + BYTES_A_LINE])) for at in range(0, len(data), BYTES_A_LINE)]
    return f"static const char text_{version(path)}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def main():
    output, *names = sys.argv[1:]
    paths = [pathlib.Path(name) for name in names]
    check(paths)
    rows = [f'{{ {version(path)}, "{path.name}", text_{version(path)} }},' for path in paths]
    parts = ['#include "mysql/migrate.h"\n', *map(text_of, paths), "const struct migration migrations[] = {",
             *rows, "{ 0, NULL, NULL },", "};"]
    pathlib.Path(output).write_text("\n".join(parts) + "\n")


main()

#!/usr/bin/env python3
"""Holds the tree to what a compiler does not check. Prints one line a finding; exits 1 if there is any."""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
# Who may include whom: a layer sees itself and what is listed. Anything else is an arrow the wrong way.
LAYERS = {
    "base": [], "config": ["base"], "mysql": ["base"], "kafka": ["base"], "ops": ["base"],
    "channel": ["base", "config"],
    "ledger": ["base", "config", "channel", "mysql"],
    "relay": ["base", "kafka", "ledger", "ops"],
    "worker": ["base", "channel", "kafka", "ledger", "ops"],
    "desk": ["base", "channel", "kafka", "ledger"],
    "library": ["base", "config", "channel", "mysql", "ledger"],
    "commands": ["base", "config", "channel", "mysql", "kafka", "ops", "ledger", "relay", "worker", "desk"],
    "main": ["base", "commands"],
}
# The one place that may see a foreign library.
FOREIGN = {"mysql": ["mysql"], "mysql.h": ["mysql"], "errmsg.h": ["mysql"], "librdkafka/": ["kafka"], "json-c/": ["channel", "ledger"],
           "yaml.h": ["config"], "expat.h": ["channel"], "iconv.h": ["channel"], "microhttpd.h": ["ops"], "openssl/": ["channel", "kafka"], "fiu": ["base"]}
BANNED = {r"\b(strcpy|strcat|sprintf|vsprintf|strncpy|strncat|strtok|atoi|atol|gets|gmtime|localtime|rand)\s*\(": "banned",
          r"\bgoto\b": "goto", r"json_object_get_double": "floating point"}
NO_FLOAT = {"channel", "ledger", "mysql"}  # near money
LINE_MAX, FUNCTION_MAX = 100, 70
# Rows that belong to a tenant: a statement on them names it, or finds them by a number that only one row has.
TENANT_TABLES = r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(claim|payment_order|refund|account|review)\b"
BY_NUMBER = {"claim": r"\bid (=|IN|>)|\bc\.id\b", "account": r"\bid =|\ba\.id\b", "review": r"\bid =|\bclaim_id\b|\bopen_subject\b"}
findings = []

for path in sorted(root.glob("src/**/*.[ch]")):
    own = path.relative_to(root / "src").parts[0].split(".")[0]
    text = path.read_text()
    say = lambda n, what: findings.append(f"{path.relative_to(root)}:{n}: {what}")
    if own not in LAYERS: say(1, f"{own} is no layer"); continue
    bare = re.sub(r'''"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/''', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    start = None
    for n, (line, code) in enumerate(zip(text.split("\n"), bare.split("\n")), 1):
        if len(line) > LINE_MAX: say(n, f"longer than {LINE_MAX}")
        if m := re.match(r'\s*#\s*include\s*"([\w/.]+)"', line):
            target = m.group(1).split("/")[0]
            if "/" in m.group(1) and target not in ("postonce", own) and target not in LAYERS[own]: say(n, f"{own} must not include {target}")
        if m := re.match(r"\s*#\s*include\s*<([^>]+)>", line):
            for header, homes in FOREIGN.items():
                if m.group(1).startswith(header) and own not in homes: say(n, f"<{m.group(1)}> belongs to {'/'.join(homes)}")
        for pattern, why in BANNED.items():
            if re.search(pattern, code): say(n, why)
        if own in NO_FLOAT and re.search(r"\b(float|double)\b", code): say(n, "floating point near money")
        if code == "{": start = n
        if code == "}" and start:
            if n - start > FUNCTION_MAX: say(start, f"function of {n - start} lines")
            start = None
def tenantless(path):
    """Functions whose SQL, with the file's own texts and functions that they use, leaves the tenant out."""
    parts = {}
    for m in re.finditer(r"^(?:static )?const char (\w+)\[\] =(.*?);\n|^#define (\w+)((?:.*\\\n)*.*)\n"
                         r"|^(?:[\w*]+ )+\**(\w+)\([^;{]*?\)\n\{\n(.*?)^\}",
                         re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S), flags=re.S | re.M):
        parts[m.group(1) or m.group(3) or m.group(5)] = m.group(2) or m.group(4) or m.group(6) or ""
    def whole(name, seen):
        if name in seen: return ""
        seen.add(name)
        return parts[name] + "".join(whole(word, seen) for word in re.findall(r"\w+", parts[name]) if word in parts)
    for name, own in parts.items():
        used = whole(name, set())
        sql = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', used))
        for table in dict.fromkeys(re.findall(TENANT_TABLES, "".join(re.findall(r'"((?:\\.|[^"\\])*)"', own)))):
            if "tenant_id" not in sql and "order_ids_write" not in used and not re.search(BY_NUMBER.get(table, "$^"), sql):
                yield name, table

for path in sorted(root.glob("src/*/*.c")):
    findings += [f"{path.relative_to(root)}: {name}: {table} without tenant_id" for name, table in tenantless(path)]
for path in sorted(root.glob("src/*/*.c")):
    if not list(root.glob(f"tests/**/test_{path.stem}*")): findings.append(f"{path.relative_to(root)}: no tests/**/test_{path.stem}*")
points = re.findall(r'PO_FAILPOINT\("([^"]+)"\)', "".join(p.read_text() for p in root.glob("src/**/*.c")))
tests = "".join(p.read_text(errors="ignore") for p in root.glob("tests/**/*") if p.is_file() and p.name != "tidy.py")
findings += [f'failpoint "{p}" is named twice' for p in sorted({p for p in points if points.count(p) > 1})]
findings += [f'failpoint "{p}" has no test' for p in sorted(set(points)) if p not in tests]
# Words in capitals in the channel layer are reasons of refusal, but for these; the page names each of them once.
NO_REASONS = {"AEAD_AES_256_GCM"}
words = re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', "".join(p.read_text() for p in root.glob("src/channel/*.c")))
page = (root / "docs/channels.md").read_text().partition("## Why a body is refused")[2]
rows = re.findall(r"^\| ([A-Z0-9_]+) \|", page, flags=re.M)
findings += [f"docs/channels.md: reason {w} is missing" for w in sorted(set(words) - NO_REASONS - set(rows))]
findings += [f"docs/channels.md: reason {w} is of no code, or named twice" for w in sorted(rows) if w not in words or rows.count(w) > 1]
table = root / "tests/README.md"
for file, name in re.findall(r"`(\S+?)::(\w+)`", table.read_text() if table.exists() else ""):
    home = root / "tests" / file
    if not home.exists() or not re.search(rf"\b{name}\b", home.read_text()): findings.append(f"tests/README.md: {file} has no {name}")
print("\n".join(findings) or "tidy")
sys.exit(bool(findings))

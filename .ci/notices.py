#!/usr/bin/env python3
"""notices.py [--check]: writes THIRD_PARTY_NOTICES.md from the crates the binary is built with.

Every crate of the normal dependency closure is listed with its version, license expression and authors' license
files. A license that is not on the list of accepted ones ends with an error. --check only compares.
"""
import hashlib, json, os, re, subprocess, sys

ACCEPTED = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unlicense", "CC0-1.0", "MIT-0", "BSL-1.0",
            "Unicode-3.0", "Unicode-DFS-2016", "0BSD", "Apache-2.0 WITH LLVM-exception"}


def accepted(expression):
    """One accepted license per OR, all of an AND; enough for the expressions crates really use."""
    expression = expression.replace("/", " OR ")
    for part in re.split(r"\s+AND\s+", re.sub(r"[()]", "", expression)):
        if not any(choice.strip() in ACCEPTED for choice in re.split(r"\s+OR\s+", part)):
            return False
    return True


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    meta = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], cwd=root, check=True, capture_output=True, text=True).stdout)
    packages = {p["id"]: p for p in meta["packages"]}
    nodes = {n["id"]: n for n in meta["resolve"]["nodes"]}
    todo, seen = list(meta["workspace_members"]), set()
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for dep in nodes[current]["deps"]:
            if any(kind["kind"] in (None, "build") for kind in dep["dep_kinds"]):
                todo.append(dep["pkg"])
    crates = sorted((packages[i] for i in seen if packages[i]["source"]), key=lambda p: (p["name"], p["version"]))
    texts, out, bad = {}, [], []
    out.append("# Third-party notices\n\nWritten by `.ci/notices.py`; do not edit. The crates that `policy` is built with:\n")
    out.append("| crate | version | license |\n|---|---|---|")
    for p in crates:
        license = p["license"] or "see file"
        if not accepted(license):
            bad.append(f"{p['name']} {p['version']}: {license}")
        out.append(f"| {p['name']} | {p['version']} | {license} |")
        folder = os.path.dirname(p["manifest_path"])
        for name in sorted(os.listdir(folder)):
            if re.match(r"(?i)(licen[sc]e|copying|notice)", name) and os.path.isfile(os.path.join(folder, name)):
                text = open(os.path.join(folder, name), encoding="utf-8", errors="replace").read().strip()
                key = hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()
                texts.setdefault(key, (text, []))[1].append(f"{p['name']} {p['version']}")
    for text, users in sorted(texts.values(), key=lambda t: t[1]):
        out.append(f"\n## {', '.join(sorted(set(users)))}\n\n```text\n{text}\n```")
    result = "\n".join(out) + "\n"
    if bad:
        sys.exit("licenses that are not accepted:\n  " + "\n  ".join(bad))
    path = os.path.join(root, "THIRD_PARTY_NOTICES.md")
    if "--check" in sys.argv:
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != result:
            sys.exit("THIRD_PARTY_NOTICES.md is not what .ci/notices.py writes: run it and commit the result")
        print(f"{len(crates)} crates, all licenses accepted")
    else:
        open(path, "w", encoding="utf-8").write(result)
        print(f"wrote {path}: {len(crates)} crates")


if __name__ == "__main__":
    main()

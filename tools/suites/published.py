"""Suites that crates ship for loom, unchanged, under anyorder: results and executions are those of
`suites.toml`, so that a change is seen."""

import re
import shutil
import tomllib

from run import HERE, WORK, NoNetwork, fetch, run, tail, write


def prepared(suite):
    """A copy of the crate, in which its tests can be run."""
    source = fetch(suite["crate"], suite["version"], suite["checksum"])
    folder = WORK / "suites" / f"{suite['crate']}-{suite['version']}"
    if not folder.exists():
        shutil.copytree(source, folder)
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        manifest = folder / "Cargo.toml"
        manifest.write_text(manifest.read_text() + "\n[workspace]\n")
        for name in suite.get("pinned", []):
            run(["cargo", "update", "-p", name[0], "--precise", name[1]], folder, {}, 300)
    return folder


def outcome(suite):
    """Runs a suite. Returns what came out, and the output."""
    folder = prepared(suite)
    seconds = suite.get("seconds", 20)
    environment = {
        "RUSTFLAGS": "--cap-lints=warn -Awarnings " + suite["rustflags"],
        "CARGO_TARGET_DIR": str(WORK / "target-suites"),
        "LOOM_MAX_DURATION": str(seconds),
        "ANYORDER_LOG": "1",
        "RUST_BACKTRACE": "0",
    }
    command = ["cargo", "anyorder", "test", "--release", *suite["arguments"]]
    tests = suite.get("tests", [])
    status, text = run(
        [*command, "--no-fail-fast", "--", "--test-threads=1", *tests], folder, environment, 1800)
    if "could not compile" in text or (status not in (0, 101)):
        return {"builds": False}, text
    models = re.findall(
        r"anyorder: (\S+): (\d+) executions, \d+ states, ([\d.]+) s$", text, re.M)
    cut = re.findall(r"anyorder: (\S+): NOT COMPLETE", text, re.M)
    whole = [(place, int(count)) for place, count, _ in models if place not in cut]
    passed = sum(int(count) for count in re.findall(r"^test result: .*? (\d+) passed", text, re.M))
    failed = sorted(set(re.findall(r"^    ([\w:]+)$", text, re.M)))
    return {
        "passed": passed,
        "failed": failed,
        "models": len(models),
        "incomplete": len(cut),
        "executions": sum(count for _, count in whole),
        "time": round(sum(float(one[2]) for one in models), 1),
    }, text


def suites(arguments):
    path = HERE / "suites.toml"
    all_suites = tomllib.loads(path.read_text())["suite"]
    names = [name for name in arguments if not name.startswith("--")]
    problems, results = [], {}
    for suite in all_suites:
        name = suite["crate"]
        if names and name not in names:
            continue
        try:
            found, text = outcome(suite)
        except NoNetwork as error:
            print(f"  {name}: skipped, it cannot be fetched ({error})", flush=True)
            continue
        print(f"  {name} {suite['version']}: {found}", flush=True)
        results[name] = found
        if "--write" in arguments:
            continue
        for key, expected in suite.get("expected", {}).items():
            if found.get(key) != expected:
                problems.append(f"{name}: {key} is {found.get(key)}, not {expected}: {tail(text)}")
    if "--write" in arguments:
        write_expected(path, results)
    return problems


def write_expected(path, results):
    """Replaces what is expected by what was found. The time is not compared."""
    text = path.read_text()
    for name, found in results.items():
        items = ", ".join(
            f"{key} = {as_toml(value)}" for key, value in found.items() if key != "time")
        at = text.index(f'crate = "{name}"')
        end = text.find("[[suite]]", at)
        block = text[at:] if end < 0 else text[at:end]
        new = re.sub(r"(?m)^expected = .*$", f"expected = {{ {items} }}", block)
        text = text.replace(block, new)
    write(path, text)


def as_toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return str(value)

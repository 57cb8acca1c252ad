#!/usr/bin/env python3
"""Runs published crates under anyorder: historical bugs, and suites that were written for loom.

    tools/suites/run.py bugs [NAME...]      each bug in the version that has it and in the one that has not
    tools/suites/run.py suites [NAME...]    results and executions, compared with `suites.toml`
    tools/suites/run.py suites --write      writes what came out as what is expected

Sources are fetched by cargo, at the versions that are written down. Without a network nothing is
run, and a word says so. Everything is built in a folder of its own (ANYORDER_SUITES, or one in
/tmp). Where a crate has no facade for loom, its imports are replaced by rules (`bugs.toml`); its code
is left alone.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = pathlib.Path(os.environ.get("ANYORDER_SUITES", "/tmp/anyorder-suites"))
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


class NoNetwork(Exception):
    """A crate could not be fetched."""


def run(arguments, folder, environment, seconds):
    """Runs a command. Returns its status (None if it was too slow) and what it printed."""
    merged = {**os.environ, **environment}
    process = subprocess.Popen(
        arguments, cwd=folder, env=merged, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        text, _ = process.communicate()
        return None, text


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def fetch(name, version, checksum):
    """Returns the folder with the sources of a crate. A lock file names yanked versions, too."""
    folder = WORK / "fetch" / f"{name}@{version}"
    write(folder / "Cargo.toml", f"""[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
subject = {{ package = "{name}", version = "={version}", default-features = false }}
[workspace]
""")
    write(folder / "lib.rs", "")
    lock = folder / "Cargo.lock"
    if not lock.exists():
        write(lock, f"""version = 3

[[package]]
name = "{name}"
version = "{version}"
source = "{REGISTRY}"
checksum = "{checksum}"
""")
    status, text = run(["cargo", "fetch"], folder, {}, 300)
    if status != 0:
        raise NoNetwork(text.strip().splitlines()[-1] if text.strip() else "cargo fetch failed")
    if f'checksum = "{checksum}"' not in lock.read_text():
        raise RuntimeError(f"{name} {version} has another checksum than expected")
    status, text = run(
        ["cargo", "metadata", "--format-version=1", "--offline"], folder, {}, 300)
    found = re.search(rf'"manifest_path":"([^"]*/{name}-{re.escape(version)}/Cargo.toml)"', text)
    return pathlib.Path(found.group(1)).parent


def copied(bug, name, version, checksum, folder):
    """Copies a crate, with other imports."""
    source = fetch(name, version, checksum)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    for path in ("Cargo.toml.orig", "Cargo.lock", ".cargo"):
        target = folder / path
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for rule in bug.get("rule", []):
        paths = [path for pattern in rule["files"] for path in folder.glob(pattern)]
        count = 0
        for path in paths:
            text, changed = re.subn(rule["from"], rule["to"], path.read_text())
            count += changed
            path.write_text(text)
        if count == 0 and not rule.get("optional"):
            raise RuntimeError(f"{name} {version}: nothing matches {rule['from']!r}")
    for stub in bug.get("stubs", []):
        own = "stub.rs" if (folder / "src" / stub).exists() else stub
        write(folder / "src" / own, (HERE / "stubs" / stub).read_text())
    for path, text in bug.get("add", {}).items():
        text = text.replace("ROOT", str(ROOT))
        path = folder / path
        path.write_text(path.read_text() + text if path.exists() else text)


def run_bug(bug, number):
    """Runs one version. Returns what is wrong."""
    name, (version, checksum) = bug["crate"], bug["versions"][number]
    folder = WORK / "bugs" / f"{bug['name']}-{version}"
    is_copied = bool(bug.get("copied"))
    if is_copied:
        copied(bug, name, version, checksum, folder / "subject")
    else:
        fetch(name, version, checksum)
    where = 'path = "subject"' if is_copied else f'version = "={version}"'
    features = ", ".join(f'"{feature}"' for feature in bug.get("features", []))
    defaults = "true" if bug.get("default_features", True) else "false"
    library = ROOT / "crates" / "anyorder"
    others = bug.get("dependencies", "")
    if not bug.get("loom"):
        others += f'anyorder = {{ path = "{library}", features = ["std-size"] }}\n'
    write(folder / "Cargo.toml", f"""[package]
name = "bug"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dev-dependencies]
subject = {{ package = "{name}", {where}, default-features = {defaults}, features = [{features}] }}
{others}
[workspace]
[profile.dev]
opt-level = 1
[profile.dev.package.anyorder-threads]
opt-level = 3
""")
    write(folder / "lib.rs", "")
    write(folder / "tests" / "bug.rs", (HERE / "bugs" / f"{bug['name']}.rs").read_text())
    environment = {
        "RUSTFLAGS": "--cap-lints=warn -Awarnings " + bug.get("rustflags", ""),
        "RUST_BACKTRACE": "0",
        "CARGO_TARGET_DIR": str(WORK / f"target-{'loom' if bug.get('loom') else 'own'}"),
        **bug.get("environment", {}),
    }
    command = ["cargo", "anyorder", "test"] if bug.get("loom") else ["cargo", "test"]
    problems = []
    status, text = run([*command, "--test", "bug", "--no-run"], folder, environment, 900)
    if status != 0:
        return [f"does not build: {tail(text)}"]
    for memory in ("sequential", "rc11"):
        expected = bug.get(("found", "remains")[number], {}).get(memory)
        environment["ANYORDER_MEMORY"] = memory
        environment["ANYORDER_TIME_MAX"] = "120"
        begun = time.monotonic()
        status, text = run(
            [*command, "--test", "bug", "--", "--nocapture", "--test-threads=1"],
            folder, environment, 600)
        seconds = time.monotonic() - begun
        results = outcomes(text)
        should_fail = expected is not None
        if status is None:
            problems.append(f"{memory}: does not end in 600 s")
            continue
        if results.get("bug") != ("FAILED" if should_fail else "ok"):
            problems.append(f"{memory}: the test `bug` is {results.get('bug')}: {tail(text)}")
        elif should_fail and not re.search(expected, text):
            problems.append(f"{memory}: found, but not as /{expected}/: {tail(text)}")
        elif number == 1 and should_fail and re.search(bug["found"][memory], text):
            problems.append(f"{memory}: what should be mended is found: {tail(text)}")
        rights = [test for test in results if test.startswith("right_")]
        if len(rights) < 3:
            problems.append(f"{memory}: {len(rights)} right programs, not three")
        wrong = [test for test in rights if results[test] != "ok"]
        if wrong:
            problems.append(f"{memory}: right programs fail: {', '.join(wrong)}: {tail(text)}")
        found = "found" if results.get("bug") == "FAILED" else "clean"
        print(f"  {name} {version}, {memory}: {found}, {len(rights)} right programs, {seconds:.1f} s",
              flush=True)
        if os.environ.get("VERBOSE"):
            print(text)
    return [f"{name} {version}: {problem}" for problem in problems]


def outcomes(text):
    """The outcome of each test, whatever it printed in between."""
    listed = re.findall(r"^    (\w+)$", text.split("\nfailures:\n")[-1], re.M)
    names = re.findall(r"^test (\w+) \.\.\.", text, re.M)
    return {name: "FAILED" if name in listed else "ok" for name in names}


def tail(text):
    return "\n    ".join(text.strip().splitlines()[-25:])


def bugs(names):
    problems = []
    for bug in tomllib.loads((HERE / "bugs.toml").read_text())["bug"]:
        if names and bug["name"] not in names:
            continue
        for number in (0, 1):
            try:
                problems += run_bug(bug, number)
            except NoNetwork as error:
                print(f"  {bug['name']}: skipped, it cannot be fetched ({error})")
            except RuntimeError as error:
                problems.append(str(error))
    return problems


def use_own_command():
    """Puts the `cargo anyorder` of this checkout first."""
    status, text = run(["cargo", "build", "--release", "-p", "cargo-anyorder"], ROOT, {}, 1800)
    if status != 0:
        sys.exit(text)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    os.environ["PATH"] = f"{target / 'release'}{os.pathsep}{os.environ['PATH']}"


def main():
    kinds = {"bugs": bugs}
    try:
        import published
        kinds["suites"] = published.suites
    except ImportError:
        pass
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    use_own_command()
    problems = kinds[sys.argv[1]](sys.argv[2:])
    for problem in problems:
        print(f"FAILED: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Tests the tests of this checker: drops its rules one at a time, and shows which drops nothing notices.

    drop_rules.py < BATCH

It reads the same lines as `certify.py --batch`. A rule is a condition that can refuse: what `demand` is
given, the test of an `if` that only raises, the condition of `None if ... else "reason"`, the event that
must come first, and each operand of their `and` and `or`. A dropped rule is noticed if some verdict differs
then. The exit status is 1 if a drop is not noticed, which is a gap in the certificates, or a rule that
others imply.
"""

import ast
import json
import sys
from pathlib import Path

# The cases that are kept for each rule.
CASES = 2000

FOLDER = Path(__file__).parent
MODULES = ["relations", "words", "orders", "schedules", "reorderings", "consistency", "certify"]


class Rules:
    """The rules found, the one that is dropped, and those that a case reached."""

    def __init__(self):
        self.places, self.dropped, self.reached = [], None, set()

    def add(self, module, node, value):
        self.places.append((module, node.lineno, node.col_offset, ast.unparse(node), value))
        return len(self.places) - 1

    def rule(self, number, found):
        """What a condition gives: `found`, or what it is when the rule is dropped."""
        value = self.places[number][4]
        if bool(found) != value:
            self.reached.add(number)
        return value if number == self.dropped else found

    def first(self, number, event):
        """The event that must come first, or None."""
        if event is not None:
            self.reached.add(number)
        return None if number == self.dropped else event


class Wrap(ast.NodeTransformer):
    """Wraps each rule of a module."""

    def __init__(self, rules, module):
        self.rules, self.module = rules, module

    def call(self, name, node, value):
        # The number is taken first: it keeps the source as it was.
        number = self.rules.add(self.module, node, value)
        inner = self.visit(node)
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number), inner], [])
        return ast.copy_location(call, node)

    def condition(self, node, dropped):
        """Wraps a condition that is `dropped` when its rule is dropped, and its parts."""
        return self.call("rule_of_test", node, dropped)

    def visit_BoolOp(self, node):
        # Without an operand: `and` takes it as true, `or` as false.
        neutral = isinstance(node.op, ast.And)
        node.values = [self.condition(value, neutral) for value in node.values]
        return node

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "demand":
            node.args = [self.condition(node.args[0], True)] + [self.visit(arg) for arg in node.args[1:]]
            return node
        if name == "after":
            at = len(node.args) - 2
            node.args[at] = self.call("first_of_test", node.args[at], None)
            return node
        return self.generic_visit(node)

    def visit_If(self, node):
        last = node.body[-1]
        reason = isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and isinstance(last.value.value, str)
        if len(node.body) == 1 and (isinstance(last, ast.Raise) or reason):
            test = self.condition(node.test, False)
            node.body = [self.visit(line) for line in node.body]
            node.orelse = [self.visit(line) for line in node.orelse]
            node.test = test
            return node
        return self.generic_visit(node)

    def visit_IfExp(self, node):
        if isinstance(node.body, ast.Constant) and node.body.value is None:
            node.test = self.condition(node.test, True)
            return node
        return self.generic_visit(node)

    def visit_JoinedStr(self, node):
        return node


def load(rules):
    """Loads the modules of the checker with their rules wrapped; returns the function of verdicts."""
    sys.path.insert(0, str(FOLDER))
    for name in MODULES:
        source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        tree = ast.fix_missing_locations(Wrap(rules, name).visit(ast.parse(source)))
        module = type(sys)(name)
        module.__dict__.update({"rule_of_test": rules.rule, "first_of_test": rules.first})
        sys.modules[name] = module
        exec(compile(tree, f"{name}.py", "exec"), module.__dict__)
    return sys.modules["certify"].verdict


def main():
    rules = Rules()
    verdict = load(rules)

    def status(case):
        try:
            return verdict(*case, True)[0]
        except Exception as error:  # A dropped rule may let anything through.
            return type(error).__name__

    # The cases that reach each rule with a value that its drop changes.
    reached = [[] for _ in rules.places]
    for line in sys.stdin:
        case = json.loads(line)
        rules.reached.clear()
        expected = status(case)
        for number in rules.reached:
            if len(reached[number]) < CASES:
                reached[number].append((case, expected))
    missed = 0
    for number, (module, line, column, source, _) in enumerate(rules.places):
        rules.dropped = number
        if not any(status(case) != expected for case, expected in reached[number]):
            missed += 1
            print(f"{module}.py:{line}:{column + 1}: `{source}`: not noticed by {len(reached[number])} cases that reach it")
    print(f"{len(rules.places)} rules; {missed} drops are not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

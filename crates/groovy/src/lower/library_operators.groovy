// Operators.

def plus(a, b) {
    if (_isInt(a) && _isInt(b)) {
        def sum = _add(a, b)
        if (_lt(sum, 2147483648L) && _lt(-2147483649L, sum)) return sum
        return _native("+", a, b)
    }
    if (_isStr(a)) return _add(a, show(b))
    if (_isStr(b) && (scalar(a) || _isMap(a))) return _add(show(a), b)
    if (scalar(a) && scalar(b)) return _native("+", a, b)
    if (sequence(a)) {
        def out = items(a)
        if (sequence(b)) { _pushAll(out, items(b)) } else { _push(out, b) }
        return _list(out)
    }
    if (_isMap(a) && _isMap(b)) {
        def m = copyMap(a)
        mapPutAll(m, b)
        return m
    }
    return otherOperator(a, b, "plus")
}

def otherOperator(a, b, name) {
    if (_isNull(a)) throw new NullPointerException("Cannot invoke method on null object")
    if (sequence(b)) return _gap("a list as arguments")
    if (_isClosure(a) || _isClosure(b)) return _gap("an operator of closures")
    throw new MissingMethodException("No signature of method: " + name)
}

def minus(a, b) {
    if (_isInt(a) && _isInt(b)) {
        def sum = _sub(a, b)
        if (_lt(sum, 2147483648L) && _lt(-2147483649L, sum)) return sum
        return _native("-", a, b)
    }
    if (_isStr(a)) return _native("-", a, show(b))
    if (scalar(a) && scalar(b)) return _native("-", a, b)
    if (sequence(a)) {
        def taken = sequence(b) ? items(b) : _one(b)
        def x = items(a)
        def out = _empty()
        def i = 0
        while (_lt(i, _len(x))) {
            if (_not(hasEqual(taken, _at(x, i)))) _push(out, _at(x, i))
            i = _add(i, 1)
        }
        return _list(out)
    }
    if (_isMap(a) && _isMap(b)) {
        def m = copyMap(a)
        def t = _table(b)
        def keys = _keys(a)
        def i = 0
        while (_lt(i, _len(keys))) {
            def k = _at(keys, i)
            if (_has(t, k) && equal(_get(t, k), mapGet(a, k))) mapRemove(m, k)
            i = _add(i, 1)
        }
        return m
    }
    return otherOperator(a, b, "minus")
}

def hasEqual(items, v) {
    def i = 0
    while (_lt(i, _len(items))) {
        if (equal(_at(items, i), v)) return true
        i = _add(i, 1)
    }
    return false
}

def multiply(a, b) {
    if (scalar(a) && scalar(b)) return _native("*", a, b)
    if (sequence(a) && number(b)) {
        def count = _native("asInt", b)
        def out = _empty()
        def i = 0
        while (_lt(i, count)) {
            _pushAll(out, items(a))
            i = _add(i, 1)
        }
        return _list(out)
    }
    return otherOperator(a, b, "multiply")
}

def div(a, b) { return scalar(a) && scalar(b) ? _native("/", a, b) : otherOperator(a, b, "div") }
def mod(a, b) { return scalar(a) && scalar(b) ? _native("%", a, b) : otherOperator(a, b, "mod") }
def power(a, b) { return scalar(a) && scalar(b) ? _native("**", a, b) : otherOperator(a, b, "power") }
def and(a, b) { return scalar(a) && scalar(b) ? _native("&", a, b) : bits(a, b, "and") }
def or(a, b) { return scalar(a) && scalar(b) ? _native("|", a, b) : bits(a, b, "or") }
def xor(a, b) { return scalar(a) && scalar(b) ? _native("^", a, b) : bits(a, b, "xor") }

def bits(a, b, name) {
    if (_isBool(a)) return _gap("bits of booleans and other values")
    if (_isList(a) && _isList(b)) return _gap("bits of lists")
    return otherOperator(a, b, name)
}

def rightShift(a, b) {
    return scalar(a) && scalar(b) ? _native(">>", a, b) : otherOperator(a, b, "rightShift")
}

def rightShiftUnsigned(a, b) {
    return scalar(a) && scalar(b) ? _native(">>>", a, b) : otherOperator(a, b, "rightShiftUnsigned")
}

def leftShift(a, b) {
    if (_isList(a)) {
        add(a, b)
        return a
    }
    if (_isStr(a)) return _gap("a StringBuffer")
    if (_isRange(a)) throw new UnsupportedOperationException("a range does not change")
    if (_isMap(a) && _isMap(b)) {
        mapPutAll(a, b)
        return a
    }
    if (_isMap(a) && _isEntry(b)) {
        mapPut(a, _key(b), _val(b))
        return a
    }
    return scalar(a) && scalar(b) ? _native("<<", a, b) : otherOperator(a, b, "leftShift")
}

def range(a, b) {
    if (_isInt(a) && _isInt(b)) return _range(a, b)
    return _gap("a range of other values than int")
}

def rangeExclusive(a, b) {
    if (_not(_isInt(a) && _isInt(b))) return _gap("a range of other values than int")
    if (_lt(a, b)) return _range(a, _sub(b, 1))
    if (_lt(b, a)) return _range(a, _add(b, 1))
    return _list(_empty())
}

def isCase(test, v) {
    if (_isNull(test)) return _isNull(v)
    if (sequence(test)) return hasEqual(items(test), v)
    if (_isMap(test)) return truth(mapGet(test, v))
    if (_isClosure(test)) return truth(test(v))
    if (_isClass(test)) return isInstance(v, _name(test))
    return equal(test, v)
}

def isIn(v, b) { return _isNull(b) ? false : isCase(b, v) }

def isInstance(v, name) {
    if (_isNull(v)) return false
    if (_same(name, "Object")) return true
    if (_isList(v)) return _same(name, "List") || _same(name, "Collection") || _same(name, "ArrayList") || _same(name, "Iterable")
    if (_isMap(v)) return _same(name, "Map") || _same(name, "LinkedHashMap") || _same(name, "HashMap")
    if (_isClosure(v)) return _same(name, "Closure")
    if (_isEntry(v)) return _same(name, "Entry")
    if (plain(v)) return _native("instance", v, name)
    return _gap("the class of a value of the platform")
}

def find(a, b) { return plain(a) && plain(b) ? _native("=~", a, b) : _native("=~", show(a), show(b)) }
def match(a, b) { return plain(a) && plain(b) ? _native("==~", a, b) : _native("==~", show(a), show(b)) }


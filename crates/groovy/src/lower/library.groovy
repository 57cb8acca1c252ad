// The run-time library. Names with an underscore are primitives of the machine. `Kind_name` is the
// method `name` of values of a kind; its first parameter is the receiver.

def truth(v) {
    if (_isBool(v)) return v
    if (_isNull(v)) return false
    if (_isInt(v)) return _not(_same(v, 0))
    if (_isStr(v)) return _lt(0, _len(v))
    if (_isList(v)) return _lt(0, _len(_items(v)))
    if (_isMap(v)) return _lt(0, _len(_keys(v)))
    if (_isNum(v) || _isMatcher(v)) return _native("truth", v)
    return true
}

def scalar(v) { return _isNull(v) || _isStr(v) || _isInt(v) || _isBool(v) || _isNum(v) }
def plain(v) { return scalar(v) || _isRange(v) || _isException(v) || _isClass(v) || _isMatcher(v) }
def number(v) { return _isInt(v) || _isNum(v) }
def sequence(v) { return _isList(v) || _isRange(v) }

def rangeItems(r) {
    def a = _from(r)
    def b = _to(r)
    if (_le(a, b)) return _upto(a, _add(b, 1))
    def items = _upto(b, _add(a, 1))
    _reverse(items)
    return items
}

// The items of a list or range.
def items(v) { return _isList(v) ? _items(v) : rangeItems(v) }

// What a loop goes over.
def iterated(v) {
    if (_isList(v)) return _items(v)
    if (_isNull(v)) return _empty()
    if (_isRange(v)) return rangeItems(v)
    if (_isMap(v)) return entries(v)
    if (_isStr(v)) return _native("characters", v)
    return _one(v)
}

def entries(m) {
    def keys = _keys(m)
    def table = _table(m)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        _push(out, _entry(k, _get(table, k)))
        i = _add(i, 1)
    }
    return out
}

def show(v) {
    if (_isStr(v)) return v
    if (scalar(v)) return _native("show", v)
    if (_isList(v)) return _add(_add("[", joined(_items(v), ", ")), "]")
    if (_isMap(v)) return showMap(v)
    if (_isEntry(v)) return _add(_add(show(_key(v)), "="), show(_val(v)))
    if (plain(v)) return _native("show", v)
    if (_isClosure(v)) return _gap("the text of a closure")
    return v.toString()
}

def showMap(m) {
    def keys = _keys(m)
    def table = _table(m)
    if (_same(_len(keys), 0)) return "[:]"
    def out = "["
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (_lt(0, i)) out = _add(out, ", ")
        out = _add(_add(_add(out, show(k)), ":"), show(_get(table, k)))
        i = _add(i, 1)
    }
    return _add(out, "]")
}

def joined(items, between) {
    def out = ""
    def i = 0
    while (_lt(i, _len(items))) {
        if (_lt(0, i)) out = _add(out, between)
        out = _add(out, show(_at(items, i)))
        i = _add(i, 1)
    }
    return out
}

def equal(a, b) {
    if (_isNull(a) || _isNull(b)) return _same(a, b)
    if (_isStr(a) || _isStr(b) || _isBool(a) || _isBool(b)) return _same(a, b)
    if (_isInt(a) && _isInt(b)) return _same(a, b)
    if (number(a)) {
        if (number(b)) return _native("equal", a, b)
        return false
    }
    if (sequence(a)) {
        if (_not(sequence(b))) return false
        def x = items(a)
        def y = items(b)
        if (_not(_same(_len(x), _len(y)))) return false
        def i = 0
        while (_lt(i, _len(x))) {
            if (_not(equal(_at(x, i), _at(y, i)))) return false
            i = _add(i, 1)
        }
        return true
    }
    if (_isMap(a)) {
        if (_not(_isMap(b))) return false
        def keys = _keys(a)
        def s = _table(a)
        def t = _table(b)
        if (_not(_same(_len(keys), _len(_keys(b))))) return false
        def i = 0
        while (_lt(i, _len(keys))) {
            def k = _at(keys, i)
            if (_not(_has(t, k))) return false
            if (_not(equal(_get(s, k), _get(t, k)))) return false
            i = _add(i, 1)
        }
        return true
    }
    if (_isEntry(a)) {
        if (_not(_isEntry(b))) return false
        return equal(_key(a), _key(b)) && equal(_val(a), _val(b))
    }
    if (_isClosure(a)) return _gap("the equality of closures")
    return _same(a, b)
}

def sameKey(a, b) {
    if (number(a)) return plain(b) && _native("sameKey", a, b)
    return equal(a, b)
}

def compare(a, b) {
    if (_isInt(a) && _isInt(b)) {
        if (_lt(a, b)) return -1
        return _lt(b, a) ? 1 : 0
    }
    if (scalar(a) && scalar(b)) return _native("compare", a, b)
    if (_isNull(a)) return -1
    if (_isNull(b)) return 1
    if (equal(a, b)) return 0
    if (scalar(a)) throw new ClassCastException("Cannot compare")
    throw new GroovyRuntimeException("Cannot compare")
}

// A key must be a value that the machine can look up.
def checkKey(k) {
    if (_isList(k) || _isMap(k) || _isClosure(k)) return _gap("a list, map or closure as a key")
    return k
}

def mapGet(m, k) { return _get(_table(m), checkKey(k)) }

def mapPut(m, k, v) {
    def key = checkKey(k)
    def keys = _keys(m)
    def table = _table(m)
    if (_not(_has(table, key))) _push(keys, key)
    _put(table, key, v)
    _setMap(m, keys, table)
    return null
}

def mapRemove(m, k) {
    def key = checkKey(k)
    def keys = _keys(m)
    def table = _table(m)
    if (_not(_has(table, key))) return null
    def old = _get(table, key)
    _del(table, key)
    _removeAt(keys, _indexOf(keys, key))
    _setMap(m, keys, table)
    return old
}

def newMap() { return _map(_empty(), _emptyTable()) }
def copyMap(m) { return _map(_keys(m), _table(m)) }

def mapPutAll(m, other) {
    def keys = _keys(other)
    def table = _table(other)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        mapPut(m, k, _get(table, k))
        i = _add(i, 1)
    }
    return null
}

def spreadInto(m, other) {
    if (_isMap(other)) return mapPutAll(m, other)
    if (_isNull(other)) throw new NullPointerException("null")
    return _gap("`*:` of something else than a map")
}

// The items of `*value` in a list or call.
def spreadItems(v) {
    if (sequence(v)) return items(v)
    if (_isNull(v)) return _one(null)
    return _gap("`*` of something else than a list")
}

def freeze(v) {
    if (plain(v)) return v
    if (_isList(v)) {
        def x = _items(v)
        def out = _empty()
        def i = 0
        while (_lt(i, _len(x))) {
            _push(out, freeze(_at(x, i)))
            i = _add(i, 1)
        }
        return out
    }
    if (_isMap(v)) {
        def keys = _keys(v)
        def table = _table(v)
        def i = 0
        while (_lt(i, _len(keys))) {
            def k = _at(keys, i)
            _put(table, k, freeze(_get(table, k)))
            i = _add(i, 1)
        }
        return _frozen(keys, table)
    }
    if (_isEntry(v)) return _entry(freeze(_key(v)), freeze(_val(v)))
    if (_isClosure(v)) return _gap("a closure that is kept")
    return v
}

def thaw(v) {
    if (_isPlainList(v)) {
        def out = _empty()
        def i = 0
        while (_lt(i, _len(v))) {
            _push(out, thaw(_at(v, i)))
            i = _add(i, 1)
        }
        return _list(out)
    }
    if (_isFrozen(v)) {
        def keys = _fkeys(v)
        def table = _ftable(v)
        def i = 0
        while (_lt(i, _len(keys))) {
            def k = _at(keys, i)
            _put(table, k, thaw(_get(table, k)))
            i = _add(i, 1)
        }
        return _map(keys, table)
    }
    return v
}

// Elements.

def position(index, len) { return _lt(index, 0) ? _add(index, len) : index }

def getAt(o, k) {
    if (_isMap(o)) return mapGet(o, k)
    if (sequence(o)) return listAt(o, k)
    if (_isNull(o)) throw new NullPointerException("Cannot invoke method getAt() on null object")
    if (_isStr(o)) return plain(k) ? _native("index", o, k) : _gap("this index of a string")
    if (_isMatcher(o) && plain(k)) return thaw(_native("index", o, k))
    if (plain(o) || _isClosure(o) || _isEntry(o)) throw new MissingMethodException("getAt()")
    return _member(o, show(k))
}

def listAt(o, k) {
    def x = items(o)
    if (_isInt(k)) {
        def at = position(k, _len(x))
        if (_lt(at, 0)) throw new ArrayIndexOutOfBoundsException("Negative array index")
        return _lt(at, _len(x)) ? _at(x, at) : null
    }
    if (_isRange(k)) {
        if (_same(_len(x), 0) || (_isRange(o) && _lt(_to(o), _from(o)))) {
            return _gap("a range of an empty list or a falling range")
        }
        def a = position(_from(k), _len(x))
        def b = position(_to(k), _len(x))
        def high = _lt(a, b) ? b : a
        if (_lt(a, 0) || _lt(b, 0) || _le(_len(x), high)) throw new IndexOutOfBoundsException("range")
        if (_le(a, b)) return _list(_slice(x, a, _add(b, 1)))
        def part = _slice(x, b, _add(a, 1))
        _reverse(part)
        return _list(part)
    }
    if (_isList(k)) {
        def keys = _items(k)
        def out = _empty()
        def i = 0
        while (_lt(i, _len(keys))) {
            _push(out, listAt(o, _at(keys, i)))
            i = _add(i, 1)
        }
        return _list(out)
    }
    if (_isStr(k)) return spread(o, k)
    if (_isNull(k)) throw new GroovyRuntimeException("Ambiguous method overloading")
    return _gap("this index of a list")
}

// A property of each item of a list.
def spread(o, name) {
    def x = items(o)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        _push(out, _member(_at(x, i), name))
        i = _add(i, 1)
    }
    return _list(out)
}

def putAt(o, k, v) {
    if (_isMap(o)) return mapPut(o, k, v)
    if (_isList(o)) {
        if (_not(_isInt(k))) return _gap("this index of a list")
        def x = _items(o)
        def at = position(k, _len(x))
        if (_lt(at, 0)) throw new ArrayIndexOutOfBoundsException("Negative array index")
        if (_lt(_add(_len(x), 65536), at)) return _gap("a list that grows so far")
        while (_le(_len(x), at)) { _push(x, null) }
        _setAt(x, at, v)
        _setItems(o, x)
        return null
    }
    if (_isNull(o)) throw new NullPointerException("Cannot invoke method putAt() on null object")
    if (_isRange(o)) throw new UnsupportedOperationException("null")
    if (plain(o) || _isClosure(o) || _isEntry(o)) throw new MissingMethodException("putAt()")
    return _setMember(o, v, show(k))
}

def next(v) {
    if (_isNull(v)) throw new NullPointerException("next() on null")
    if (_isStr(v)) return _gap("`++` of a string")
    if (_not(number(v))) throw new MissingMethodException("next()")
    return plus(v, 1)
}

def previous(v) {
    if (_isNull(v)) throw new NullPointerException("previous() on null")
    if (_isStr(v)) return _gap("`--` of a string")
    if (_not(number(v))) throw new MissingMethodException("previous()")
    return minus(v, 1)
}

// What several variables take from one value.
def part(v, i) { return getAt(v, i) }

// Casts to kinds that are no numbers.

def castList(v, name) {
    if (_isNull(v) || _isList(v)) return v
    if (_isRange(v)) return v
    throw new GroovyCastException(name)
}

def asList(v, name) {
    if (_isNull(v) || _isList(v)) return v
    if (_isRange(v)) return _same(name, "ArrayList") ? _list(items(v)) : v
    return _gap("a cast to a list")
}

def castMap(v, name) {
    if (_isNull(v) || _isMap(v)) return v
    throw new GroovyCastException(name)
}

def castClosure(v, name) {
    if (_isNull(v) || _isClosure(v)) return v
    throw new GroovyCastException(name)
}

def castArray(v) {
    if (_isNull(v) || _isList(v)) return v
    if (_isRange(v)) return _list(items(v))
    return _gap("a cast to an array")
}

// Methods of all values.

def Any_toString(v) { return show(v) }
def Any_equals(v, other) { return _isNull(v) ? false : (number(v) ? sameKey(v, other) : equal(v, other)) }
def Any_asBoolean(v) { return truth(v) }
def Any_each(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        f(_at(x, i))
        i = _add(i, 1)
    }
    return v
}
def Any_eachWithIndex(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        f(_at(x, i), i)
        i = _add(i, 1)
    }
    return v
}
def Any_collect(v) { return _list(iterated(v)) }
def Any_collect(v, f) {
    def x = iterated(v)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        _push(out, f(_at(x, i)))
        i = _add(i, 1)
    }
    return _list(out)
}
def Any_find(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        if (truth(f(_at(x, i)))) return _at(x, i)
        i = _add(i, 1)
    }
    return null
}
def Any_findAll(v, f) { return _list(kept(iterated(v), f, true)) }
def Any_any(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        if (truth(f(_at(x, i)))) return true
        i = _add(i, 1)
    }
    return false
}
def Any_every(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        if (_not(truth(f(_at(x, i))))) return false
        i = _add(i, 1)
    }
    return true
}
def Any_findIndexOf(v, f) {
    def x = iterated(v)
    def i = 0
    while (_lt(i, _len(x))) {
        if (truth(f(_at(x, i)))) return i
        i = _add(i, 1)
    }
    return -1
}
def Any_inject(v, first, f) {
    def x = iterated(v)
    def value = first
    def i = 0
    while (_lt(i, _len(x))) {
        value = f(value, _at(x, i))
        i = _add(i, 1)
    }
    return value
}

def kept(x, f, wanted) {
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        if (_same(truth(f(_at(x, i))), wanted)) _push(out, _at(x, i))
        i = _add(i, 1)
    }
    return out
}

// The argument is a closure or a regular expression.
def Text_find(v, f) { return _isStr(f) ? _native("find", v, f) : Any_find(v, f) }
def Text_findAll(v, f) { return _isStr(f) ? thaw(_native("findAll", v, f)) : Any_findAll(v, f) }

def Number_times(v, f) {
    def count = _native("asInt", v)
    def i = 0
    while (_lt(i, count)) {
        f(i)
        i = _add(i, 1)
    }
    return null
}
def Number_upto(v, end, f) {
    if (_not(_isInt(v) && _isInt(end))) return _gap("`upto` of other numbers than int")
    if (_lt(end, v)) throw new GroovyRuntimeException("the ends are in the wrong order")
    def i = v
    while (_le(i, end)) {
        f(i)
        i = _add(i, 1)
    }
    return null
}
def Number_downto(v, end, f) {
    if (_not(_isInt(v) && _isInt(end))) return _gap("`downto` of other numbers than int")
    if (_lt(v, end)) throw new GroovyRuntimeException("the ends are in the wrong order")
    def i = v
    while (_le(end, i)) {
        f(i)
        i = _sub(i, 1)
    }
    return null
}

// The message of a new exception.
def messageOf(v) {
    if (_isNull(v) || _isStr(v)) return v
    return _gap("an exception with something else than a message")
}

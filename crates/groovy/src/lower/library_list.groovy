// Methods of lists, and of ranges where they change nothing.

def add(l, v) {
    def x = _items(l)
    _push(x, v)
    _setItems(l, x)
    return true
}

def List_size(l) { return _len(_items(l)) }
def List_isEmpty(l) { return _same(_len(_items(l)), 0) }
def List_first(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) throw new NoSuchElementException("empty")
    return _at(x, 0)
}
def List_head(l) { return List_first(l) }
def List_last(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) throw new NoSuchElementException("empty")
    return _at(x, _sub(_len(x), 1))
}
def List_tail(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) throw new NoSuchElementException("empty")
    return _list(_slice(x, 1, _len(x)))
}
def List_init(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) throw new NoSuchElementException("empty")
    return _list(_slice(x, 0, _sub(_len(x), 1)))
}
def List_get(l, i) {
    def x = _items(l)
    if (_not(_isInt(i))) return _gap("`get` of a list")
    if (_lt(i, 0) || _le(_len(x), i)) throw new IndexOutOfBoundsException("get")
    return _at(x, i)
}
def List_getAt(l, k) { return listAt(l, k) }
def keyAt(x, v) {
    def i = 0
    while (_lt(i, _len(x))) {
        if (sameKey(_at(x, i), v)) return i
        i = _add(i, 1)
    }
    return -1
}
def List_contains(l, v) { return _le(0, keyAt(_items(l), v)) }
def List_indexOf(l, v) { return keyAt(_items(l), v) }
def List_join(l) { return joined(_items(l), "") }
def List_join(l, between) {
    if (_not(_isStr(between))) return _gap("`join` with something else than a string")
    return joined(_items(l), between)
}
def List_reverse(l) {
    def x = _items(l)
    _reverse(x)
    return _list(x)
}
def List_toList(l) { return _list(_items(l)) }
def List_asList(l) { return _list(_items(l)) }
def bounded(n, len) { return _lt(n, 0) ? 0 : (_lt(len, n) ? len : n) }
def List_take(l, n) {
    if (_not(_isInt(n))) return _gap("`take`")
    def x = _items(l)
    return _list(_slice(x, 0, bounded(n, _len(x))))
}
def List_drop(l, n) {
    if (_not(_isInt(n))) return _gap("`drop`")
    def x = _items(l)
    return _list(_slice(x, bounded(n, _len(x)), _len(x)))
}
def List_flatten(l) { return _list(flat(_items(l))) }
def flat(x) {
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        if (sequence(one)) {
            def inner = flat(items(one))
            def j = 0
            while (_lt(j, _len(inner))) {
                _push(out, _at(inner, j))
                j = _add(j, 1)
            }
        } else {
            _push(out, one)
        }
        i = _add(i, 1)
    }
    return out
}
def List_plus(l, v) { return plus(l, v) }
def List_minus(l, v) { return minus(l, v) }
def List_multiply(l, v) { return multiply(l, v) }
def List_count(l, v) {
    def x = _items(l)
    def n = 0
    def i = 0
    def byClosure = _isClosure(v)
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        if (byClosure ? truth(v(one)) : equal(one, v)) n = _add(n, 1)
        i = _add(i, 1)
    }
    return n
}
def List_sum(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) return null
    def sum = _at(x, 0)
    def i = 1
    while (_lt(i, _len(x))) {
        sum = plus(sum, _at(x, i))
        i = _add(i, 1)
    }
    return sum
}
def List_sum(l, f) {
    if (_isClosure(f)) return List_sum(Any_collect(l, f))
    return _gap("`sum` with a first value")
}
def List_min(l) { return extreme(l, false) }
def List_max(l) { return extreme(l, true) }
def extreme(l, greatest) {
    def x = _items(l)
    def best = null
    def some = false
    def i = 0
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        if (_not(_isNull(one))) {
            if (_not(some)) {
                best = one
                some = true
            } else {
                def order = compare(one, best)
                if (greatest ? _lt(0, order) : _lt(order, 0)) best = one
            }
        }
        i = _add(i, 1)
    }
    return best
}
def List_min(l, f) { return extremeBy(l, f, false) }
def List_max(l, f) { return extremeBy(l, f, true) }
def extremeBy(l, f, greatest) {
    def x = _items(l)
    if (_not(_isClosure(f))) return _gap("`min` or `max` without a closure")
    if (_same(_most(f), 2)) return _gap("`min` or `max` with a comparison")
    def best = null
    def bestKey = null
    def i = 0
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        def key = f(one)
        if (_same(i, 0)) {
            best = one
            bestKey = key
        } else {
            def order = compare(key, bestKey)
            if (greatest ? _lt(0, order) : _lt(order, 0)) {
                best = one
                bestKey = key
            }
        }
        i = _add(i, 1)
    }
    return best
}
def different(x) {
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        if (_not(holdsSame(out, one))) _push(out, one)
        i = _add(i, 1)
    }
    return out
}
// `unique` compares as `<=>` does: values without an order are different.
def holdsSame(x, v) {
    def i = 0
    while (_lt(i, _len(x))) {
        def one = _at(x, i)
        if (equal(one, v)) return true
        i = _add(i, 1)
    }
    return false
}
def List_unique(l) {
    def x = different(_items(l))
    _setItems(l, x)
    return l
}
def List_unique(l, f) {
    if (_isBool(f)) {
        if (_same(f, true)) return List_unique(l)
        return _list(different(_items(l)))
    }
    if (_not(_isClosure(f))) return _gap("`unique`")
    if (_same(_most(f), 2)) return _gap("`unique` with a comparison")
    def x = _items(l)
    def keys = _empty()
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        def key = f(_at(x, i))
        if (_not(holdsSame(keys, key))) {
            _push(keys, key)
            _push(out, _at(x, i))
        }
        i = _add(i, 1)
    }
    _setItems(l, out)
    return l
}
// The positions of keys in a stable order.
def inserted(keys, key) {
    def low = 0
    def high = _len(keys)
    while (_lt(low, high)) {
        def middle = _div(_add(low, high), 2)
        if (_lt(compare(key, _at(keys, middle)), 0)) { high = middle } else { low = _add(middle, 1) }
    }
    return low
}
def insertedBy(keys, key, f) {
    def low = 0
    def high = _len(keys)
    while (_lt(low, high)) {
        def middle = _div(_add(low, high), 2)
        def order = _native("asInt", f(key, _at(keys, middle)))
        if (_lt(order, 0)) { high = middle } else { low = _add(middle, 1) }
    }
    return low
}
def sorted(x, f) {
    // Nothing is compared, so no closure is called.
    if (_lt(_len(x), 2)) return x
    def keys = _empty()
    def out = _empty()
    def two = _isClosure(f) && _same(_most(f), 2)
    def one = _isClosure(f) && _not(_same(_most(f), 2))
    def i = 0
    while (_lt(i, _len(x))) {
        def item = _at(x, i)
        def key = one ? f(item) : item
        def at = two ? insertedBy(keys, key, f) : inserted(keys, key)
        _insert(keys, at, key)
        _insert(out, at, item)
        i = _add(i, 1)
    }
    return out
}
def List_sort(l) {
    def x = sorted(_items(l), null)
    _setItems(l, x)
    return l
}
def List_sort(l, f) {
    if (_isBool(f)) {
        if (_same(f, true)) return List_sort(l)
        return _list(sorted(_items(l), null))
    }
    if (_not(_isClosure(f))) return _gap("`sort`")
    def x = sorted(_items(l), f)
    _setItems(l, x)
    return l
}
def List_toSorted(l) { return _list(sorted(_items(l), null)) }
def List_toUnique(l) { return _list(different(_items(l))) }
def List_intersect(l, other) {
    if (_not(sequence(other))) return _gap("`intersect`")
    def x = _items(l)
    def y = items(other)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        if (hasEqual(y, _at(x, i))) _push(out, _at(x, i))
        i = _add(i, 1)
    }
    return _list(out)
}
def List_containsAll(l, other) {
    if (_not(sequence(other))) return _gap("`containsAll`")
    def x = _items(l)
    def y = items(other)
    def i = 0
    while (_lt(i, _len(y))) {
        if (_lt(keyAt(x, _at(y, i)), 0)) return false
        i = _add(i, 1)
    }
    return true
}
def List_add(l, v) { return add(l, v) }
def List_push(l, v) { return add(l, v) }
def List_leftShift(l, v) { return leftShift(l, v) }
def List_add(l, at, v) {
    def x = _items(l)
    if (_not(_isInt(at))) return _gap("`add` at this place")
    if (_lt(at, 0) || _lt(_len(x), at)) throw new IndexOutOfBoundsException("add")
    _insert(x, at, v)
    _setItems(l, x)
    return null
}
def List_addAll(l, more) {
    if (_not(sequence(more))) return _gap("`addAll`")
    def x = _items(l)
    def y = items(more)
    def i = 0
    while (_lt(i, _len(y))) {
        _push(x, _at(y, i))
        i = _add(i, 1)
    }
    _setItems(l, x)
    return _lt(0, _len(y))
}
def List_removeAll(l, more) {
    if (_isClosure(more)) {
        def before = _len(_items(l))
        def left = kept(_items(l), more, false)
        _setItems(l, left)
        return _not(_same(before, _len(left)))
    }
    if (_not(sequence(more))) return _gap("`removeAll`")
    def x = _items(l)
    def y = items(more)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(x))) {
        if (_lt(keyAt(y, _at(x, i)), 0)) _push(out, _at(x, i))
        i = _add(i, 1)
    }
    _setItems(l, out)
    return _not(_same(_len(x), _len(out)))
}
def List_remove(l, v) {
    def x = _items(l)
    if (_isInt(v)) {
        if (_lt(v, 0) || _le(_len(x), v)) throw new IndexOutOfBoundsException("remove")
        def old = _at(x, v)
        _removeAt(x, v)
        _setItems(l, x)
        return old
    }
    def at = keyAt(x, v)
    if (_lt(at, 0)) return false
    _removeAt(x, at)
    _setItems(l, x)
    return true
}
def List_pop(l) {
    def x = _items(l)
    if (_same(_len(x), 0)) throw new NoSuchElementException("Cannot pop() an empty List")
    def last = _sub(_len(x), 1)
    def old = _at(x, last)
    _removeAt(x, last)
    _setItems(l, x)
    return old
}
def List_clear(l) {
    _setItems(l, _empty())
    return null
}
def List_putAt(l, k, v) { return putAt(l, k, v) }
def List_set(l, k, v) { return putAt(l, k, v) }
def List_reverseEach(l, f) {
    def x = _items(l)
    def i = _sub(_len(x), 1)
    while (_le(0, i)) {
        f(_at(x, i))
        i = _sub(i, 1)
    }
    return l
}
def List_findResult(l, f) {
    def x = _items(l)
    def i = 0
    while (_lt(i, _len(x))) {
        def r = f(_at(x, i))
        if (_not(_isNull(r))) return r
        i = _add(i, 1)
    }
    return null
}
def List_collectMany(l, f) {
    def x = _items(l)
    def out = _list(_empty())
    def i = 0
    while (_lt(i, _len(x))) {
        List_addAll(out, f(_at(x, i)))
        i = _add(i, 1)
    }
    return out
}
def addEntry(m, e) {
    if (_isEntry(e)) return mapPut(m, _key(e), _val(e))
    if (_isMap(e)) return mapPutAll(m, e)
    if (_isList(e) && _same(_len(_items(e)), 2)) return mapPut(m, _at(_items(e), 0), _at(_items(e), 1))
    return _gap("an entry of another form")
}
def List_collectEntries(l, f) {
    def x = _items(l)
    def m = newMap()
    def i = 0
    while (_lt(i, _len(x))) {
        addEntry(m, f(_at(x, i)))
        i = _add(i, 1)
    }
    return m
}
def List_groupBy(l, f) {
    if (_not(_isClosure(f))) return _gap("`groupBy`")
    def x = _items(l)
    def m = newMap()
    def i = 0
    while (_lt(i, _len(x))) {
        def k = f(_at(x, i))
        if (_not(_has(_table(m), checkKey(k)))) mapPut(m, k, _list(_empty()))
        add(mapGet(m, k), _at(x, i))
        i = _add(i, 1)
    }
    return m
}

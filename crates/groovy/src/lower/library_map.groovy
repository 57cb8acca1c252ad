// Methods of maps and entries. A closure with two parameters takes the key and the value.

def withEntry(f, k, v) { return _same(_most(f), 2) ? f(k, v) : f(_entry(k, v)) }

def Map_size(m) { return _len(_keys(m)) }
def Map_isEmpty(m) { return _same(_len(_keys(m)), 0) }
def Map_get(m, k) { return mapGet(m, k) }
def Map_getAt(m, k) { return mapGet(m, k) }
def Map_get(m, k, other) {
    if (_has(_table(m), checkKey(k))) return mapGet(m, k)
    mapPut(m, k, other)
    return other
}
def Map_put(m, k, v) {
    def old = mapGet(m, k)
    mapPut(m, k, v)
    return old
}
def Map_putAt(m, k, v) { return mapPut(m, k, v) }
def Map_putAll(m, other) { return spreadInto(m, other) }
def Map_remove(m, k) { return mapRemove(m, k) }
def Map_containsKey(m, k) { return _has(_table(m), checkKey(k)) }
def Map_containsValue(m, v) {
    return _le(0, keyAt(_items(Map_values(m)), v))
}
def Map_keySet(m) { return _list(_keys(m)) }
def Map_values(m) {
    def keys = _keys(m)
    def table = _table(m)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(keys))) {
        _push(out, _get(table, _at(keys, i)))
        i = _add(i, 1)
    }
    return _list(out)
}
def Map_entrySet(m) { return _list(entries(m)) }
def Map_clear(m) {
    _setMap(m, _empty(), _emptyTable())
    return null
}
def Map_plus(m, other) { return plus(m, other) }
def Map_minus(m, other) { return minus(m, other) }
def Map_leftShift(m, other) { return leftShift(m, other) }
def Map_each(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        withEntry(f, k, _get(table, k))
        i = _add(i, 1)
    }
    return m
}
def Map_eachWithIndex(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (_same(_most(f), 3)) { f(k, _get(table, k), i) } else { f(_entry(k, _get(table, k)), i) }
        i = _add(i, 1)
    }
    return m
}
def Map_collect(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def out = _empty()
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        _push(out, withEntry(f, k, _get(table, k)))
        i = _add(i, 1)
    }
    return _list(out)
}
def Map_find(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (truth(withEntry(f, k, _get(table, k)))) return _entry(k, _get(table, k))
        i = _add(i, 1)
    }
    return null
}
def Map_findAll(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def out = newMap()
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (truth(withEntry(f, k, _get(table, k)))) mapPut(out, k, _get(table, k))
        i = _add(i, 1)
    }
    return out
}
def Map_any(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (truth(withEntry(f, k, _get(table, k)))) return true
        i = _add(i, 1)
    }
    return false
}
def Map_every(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (_not(truth(withEntry(f, k, _get(table, k))))) return false
        i = _add(i, 1)
    }
    return true
}
def Map_count(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def n = 0
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        if (truth(withEntry(f, k, _get(table, k)))) n = _add(n, 1)
        i = _add(i, 1)
    }
    return n
}
def Map_collectEntries(m, f) {
    def keys = _keys(m)
    def table = _table(m)
    def out = newMap()
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        addEntry(out, withEntry(f, k, _get(table, k)))
        i = _add(i, 1)
    }
    return out
}
def Map_inject(m, first, f) {
    def keys = _keys(m)
    def table = _table(m)
    def value = first
    def i = 0
    while (_lt(i, _len(keys))) {
        def k = _at(keys, i)
        value = _same(_most(f), 3) ? f(value, k, _get(table, k)) : f(value, _entry(k, _get(table, k)))
        i = _add(i, 1)
    }
    return value
}
def Map_sort(m) {
    return _map(sorted(_keys(m), null), _table(m))
}
def Map_sort(m, f) {
    def list = sorted(entries(m), f)
    def keys = _empty()
    def i = 0
    while (_lt(i, _len(list))) {
        _push(keys, _key(_at(list, i)))
        i = _add(i, 1)
    }
    return _map(keys, _table(m))
}
def Map_max(m, f) { return extremeBy(_list(entries(m)), f, true) }
def Map_min(m, f) { return extremeBy(_list(entries(m)), f, false) }
def Map_sum(m, f) { return List_sum(Map_collect(m, f)) }
def Entry_getKey(e) { return _key(e) }
def Entry_getValue(e) { return _val(e) }

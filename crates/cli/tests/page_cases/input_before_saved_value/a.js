fetch("/v.txt").then((r) => r.text()).then((t) => { q.value = t; });

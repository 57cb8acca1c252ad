// A small store with effects, as frameworks have them.
export function createStore(state) {
  const effects = [];
  const store = {
    get state() { return state; },
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const effect of effects) {
        const values = effect.of(state), old = effect.of(before);
        if (values.every((value, i) => Object.is(value, old[i]))) continue;
        if (effect.cleanUp) effect.cleanUp();
        effect.cleanUp = effect.run(state);
      }
    },
    effect(run, of) { effects.push({ run, of, cleanUp: run(state) }); },
  };
  return store;
}

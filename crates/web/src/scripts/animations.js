// Transitions and animations of style. The browser ends them by its clock, and tells the page with
// the next picture. Here they stand still half-way, and their ends wait in the queue. Half-way, since
// one that is turned back goes back only if it has come somewhere. One that never ends stands still
// for ever.
if (W.Animation && W.KeyframeEffect && W.Document.prototype.getAnimations) {
  const getter = (owner, name) => {
    const { get } = N.descriptor(owner.prototype, name);
    return (of) => N.apply(get, of, []);
  };
  const all = W.Document.prototype.getAnimations;
  const { finish } = W.Animation.prototype;
  const rate = N.descriptor(W.Animation.prototype, 'playbackRate');
  const time = N.descriptor(W.Animation.prototype, 'currentTime');
  const setRate = (animation, to) => N.apply(rate.set, animation, [to]);
  const state = getter(W.Animation, 'playState');
  const effect = getter(W.Animation, 'effect');
  const timeline = getter(W.Animation, 'timeline');
  const documentTimeline = getter(W.Document, 'timeline');
  const target = getter(W.KeyframeEffect, 'target');
  const timing = W.AnimationEffect.prototype.getComputedTiming;
  const kinds = [
    [W.CSSTransition, 'transitionProperty', 'transitionend'],
    [W.CSSAnimation, 'animationName', 'animationend'],
    [W.Animation, 'id', 'finish'],
  ];
  for (const kind of kinds) {
    const { get } = N.descriptor(kind[0].prototype, kind[1]);
    kind[1] = (of) => N.apply(get, of, []);
  }
  const tag = getter(W.Element, 'tagName');
  const id = getter(W.Element, 'id');
  const lower = W.String.prototype.toLowerCase;
  // How many have been ended of which the page was not told: that comes with the next picture.
  let ending = 0;
  let ended = () => {};
  waitForAnimations = () => ending <= 0 ? undefined : new N.Promise((resolve) => {
    ended = resolve;
    N.setTimeout(() => { ending = 0; resolve(); }, 10000);
  });
  // What stands still: the animation, its rate, and its end in the queue.
  let held = [];
  const heldOf = (animation) => {
    for (let i = 0; i < held.length; i++) if (held[i].animation === animation) return held[i];
    return null;
  };
  // Lets an animation go on, as it would without this.
  const release = (animation) => {
    const one = heldOf(animation);
    if (!one) return;
    const others = [];
    for (let i = 0; i < held.length; i++) if (held[i] !== one) others[others.length] = held[i];
    held = others;
    remove(one.entry);
    if (N.apply(rate.get, animation, []) === 0) setRate(animation, one.rate);
  };
  // Holds an animation, and returns it if it has an end.
  const hold = (animation) => {
    const of = effect(animation);
    if (!of || state(animation) !== 'running') return null;
    if (timeline(animation) !== documentTimeline(W.document)) return null;
    const speed = N.apply(rate.get, animation, []);
    const { endTime, delay, duration } = N.apply(timing, of, []);
    if (!(speed > 0) || typeof endTime !== 'number' || typeof duration !== 'number') return null;
    const one = { animation, rate: speed, left: N.max(0, N.trunc(endTime / speed)), entry: null };
    held[held.length] = one;
    setRate(animation, 0);
    N.apply(time.set, animation, [delay + duration / 2]);
    return endTime === Infinity ? null : one;
  };
  const wait = (one) => {
    const { animation, left } = one;
    let kind = 0;
    while (!(animation instanceof kinds[kind][0])) kind++;
    const element = target(effect(animation));
    const at = element ? N.apply(lower, tag(element), []) + (id(element) && '#' + id(element)) : '';
    one.entry = enqueue('animation', kinds[kind][1](animation) + ' of ' + at, () => {
      release(animation);
      heard(kind === 2 ? animation : element, kinds[kind][2]);
      ending++;
      N.apply(N.addEventListener, animation, ['finish', () => {
        ending--;
        activity++;
        ended();
      }, { once: true }]);
      N.apply(finish, animation, []);
    }, { due: now + left, delay: left, channel: 'animation' });
  };
  watchAnimations = () => {
    for (let i = held.length - 1; i >= 0; i--) {
      const { animation } = held[i];
      const gone = state(animation) !== 'running' || N.apply(rate.get, animation, []) !== 0;
      if (!gone) continue;
      release(animation);
      // The page is told of it with the next picture.
      drawsOnce = true;
    }
    const list = N.apply(all, W.document, []);
    // Those that begin with one picture end in the order of their lengths.
    const begun = [];
    for (let i = 0; i < list.length; i++) {
      const one = heldOf(list[i]) ? null : hold(list[i]);
      if (!one) continue;
      let place = begun.length;
      for (; place > 0 && begun[place - 1].left > one.left; place--) begun[place] = begun[place - 1];
      begun[place] = one;
    }
    for (let i = 0; i < begun.length; i++) wait(begun[i]);
  };
  // Each picture is also looked at before it is drawn: on a busy machine, a short transition would be
  // over before the driver asks.
  const everyPicture = () => {
    watchAnimations();
    N.requestAnimationFrame(everyPicture);
  };
  N.requestAnimationFrame(everyPicture);
  for (const name of ['finish', 'reverse', 'pause', 'updatePlaybackRate']) {
    const native = W.Animation.prototype[name];
    replace(W.Animation.prototype, name, function (...values) {
      release(this);
      return N.apply(native, this, values);
    });
  }
  replaceGetter(W.Animation.prototype, 'playbackRate', function () {
    const one = heldOf(this);
    return one ? one.rate : N.apply(rate.get, this, []);
  });
}

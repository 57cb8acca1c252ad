window.tracker = {
  log: window.tracker ? window.tracker.log : [],
  send: function (kind, name) { this.log.push([kind, name]); },
};

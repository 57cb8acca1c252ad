(function () {
  const cfg = Object.assign({ api: '/api', plan: 'free' }, window.CONFIG);
  let started = false;
  document.addEventListener('DOMContentLoaded', start);
  if (document.readyState !== 'loading') start();
  function start() {
    if (started) return;
    started = true;
    document.getElementById('where').textContent = 'Plan: ' + cfg.plan;
    fetch(cfg.api + '/visit', { method: 'POST', body: cfg.plan });
  }
})();

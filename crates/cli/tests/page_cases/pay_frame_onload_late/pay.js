(function init() {
  if (document.readyState === 'loading') return document.addEventListener('DOMContentLoaded', init);
  const b = document.getElementById('confirm');
  document.getElementById('pf').addEventListener('load', () => { b.disabled = false; });
  b.addEventListener('click', () => {
    fetch('/pay', { method: 'POST' });
    document.getElementById('r').textContent = 'Paid';
  });
})();

var NS = window.NS || (window.NS = {});
(function () {
  NS.b = function () { document.getElementById('wb').textContent = 'widget b'; };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', NS.b);
  else NS.b();
})();

(function () {
  function setup() {
    document.querySelectorAll('.panel').forEach(function (p) {
      p.style.maxHeight = p.scrollHeight + 'px';
      p.style.transition = 'max-height .2s';
    });
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', setup);
  else setup();
})();

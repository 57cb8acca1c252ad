(function () {
  var count = 0;
  function run(command) {
    count++;
    document.getElementById('log').textContent = count + ' ' + command;
  }
  function ready() {
    document.querySelectorAll('.bar button').forEach(function (button) {
      button.addEventListener('click', function () { run(button.dataset.command); });
    });
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', ready);
  else ready();
})();

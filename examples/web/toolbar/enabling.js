var count = 0;
document.querySelectorAll('.bar button').forEach(function (button) {
  button.onclick = function () {
    count++;
    document.getElementById('log').textContent = count + ' ' + button.dataset.command;
  };
  button.disabled = false;
});

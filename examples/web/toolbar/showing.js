var count = 0;
var bar = document.querySelector('.bar');
bar.addEventListener('click', function (event) {
  count++;
  document.getElementById('log').textContent = count + ' ' + event.target.dataset.command;
});
bar.hidden = false;

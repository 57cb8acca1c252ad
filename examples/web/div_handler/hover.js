document.getElementById('box').addEventListener('mouseenter', function () {
  document.getElementById('hint').textContent = 'click to open';
});

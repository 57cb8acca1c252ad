document.getElementById('menu').addEventListener('click', function () {
  document.getElementById('items').textContent = 'new, open, save';
});

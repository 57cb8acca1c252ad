document.getElementById('one').addEventListener('load', function () {
  document.getElementById('state').textContent = 'fits';
});

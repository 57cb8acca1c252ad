function show() {
  document.getElementById('items').textContent = 'new, open, save';
}
if (wanted) show();

function share(button) {
  button.textContent = 'Shared';
}

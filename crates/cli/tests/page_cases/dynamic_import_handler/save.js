export function attach(button) {
  button.addEventListener('click', () => {
    localStorage.setItem('text', document.getElementById('t').value);
    document.getElementById('out').textContent = 'saved';
  });
}

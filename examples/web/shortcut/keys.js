addEventListener('keydown', (event) => {
  if (event.key === 'k') document.getElementById('palette').hidden = false;
});

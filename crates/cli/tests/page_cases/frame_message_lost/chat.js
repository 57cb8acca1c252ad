const log = document.getElementById('log');
window.addEventListener('message', (e) => {
  if (e.origin !== location.origin || e.data.type !== 'open') return;
  log.textContent = `You ask about order ${e.data.order}. An agent will be with you.`;
});

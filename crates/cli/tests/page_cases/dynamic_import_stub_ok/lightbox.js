let favs = 0;
const commands = {
  open(name) { document.getElementById('box').innerHTML = `<img alt="${name}" src="${name}.svg" width="60">`; },
  favour() { favs++; document.getElementById('favs').textContent = favs; },
};
export function install() {
  const early = window.lightbox.q || [];
  window.lightbox = (cmd, ...args) => commands[cmd](...args);
  for (const [cmd, ...args] of early) commands[cmd](...args);
}

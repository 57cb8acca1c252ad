const plugins = [];
export function register(name) {
  plugins.push(name);
  document.getElementById('out').textContent = plugins.join();
}

window.App = {
  plugins: {},
  register(name, fn) {
    this.plugins[name] = fn;
    const li = document.createElement('li');
    li.textContent = fn();
    document.getElementById('plugins').append(li);
  },
};

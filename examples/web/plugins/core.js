var core = {
  plugins: [],
  register: function (name) {
    this.plugins.push(name);
    document.getElementById('out').textContent = this.plugins.join();
  }
};

const channel = new BroadcastChannel('cart');
channel.onmessage = ev => {
  document.getElementById('c').textContent = ev.data.count;
};

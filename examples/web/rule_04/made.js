order.push('made');
document.getElementById('text').textContent = order.join();

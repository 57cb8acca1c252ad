function say(word) {
  document.getElementById('log').textContent += word + ' ';
}

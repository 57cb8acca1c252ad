class PriceList extends HTMLElement {
  connectedCallback() { this.rows ??= []; this.paint(); }
  setRows(rows) { this.rows = rows; this.paint(); }
  paint() {
    this.textContent = '';
    for (const [n, p] of this.rows) {
      const d = document.createElement('div');
      d.textContent = n + ': ' + p + ' EUR';
      this.append(d);
    }
  }
}
customElements.define('price-list', PriceList);

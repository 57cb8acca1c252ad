import { createApp, h } from "vue";
import Multiselect from "@vueform/multiselect";

const load = async (word) => (await fetch("/search?q=" + (word || ""))).json();
const options = { options: load, searchable: true, filterResults: false, delay: 0, minChars: 1 };
createApp({ render: () => h(Multiselect, options) }).mount("#root");

import { createApp, h } from "vue";
import { useAsyncState } from "@vueuse/core";

const named = async (id) => (await fetch("/user/" + id)).text();

createApp({
  setup() {
    const { state, execute } = useAsyncState(named, "nobody", { immediate: false });
    const button = (id) => h("button", { id: "user" + id, onClick: () => execute(0, id) }, id);
    return () => h("div", [button(1), button(2), h("p", state.value)]);
  },
}).mount("#root");

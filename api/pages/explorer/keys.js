/** The key of this tab, and the warning of a service that asks for none. */

import { byId, fill } from "./element.js";
import { get, key, whenRefused } from "./service.js";
import { trouble } from "./trouble.js";

/** Wire the dialog; `given` is called with a new key, and at once when none is needed or one is kept. */
export async function keys(given) {
  const [dialog, input] = [byId("key-dialog"), byId("key-input")];
  const ask = (problem = null) => {
    fill(byId("key-trouble"), problem && key.get() ? trouble(problem) : null);
    if (!dialog.open) dialog.showModal();
    input.focus();
  };
  byId("key").addEventListener("click", () => ask());
  byId("key-forget").addEventListener("click", () => {
    key.forget();
    input.value = "";
    dialog.close();
  });
  byId("key-form").addEventListener("submit", () => {
    key.set(input.value.trim());
    input.value = "";
    given();
  });
  whenRefused(ask);
  const { open } = await get("/health/live").catch(() => ({ open: false }));
  byId("open").hidden = !open;
  byId("key").hidden = open;
  if (open || key.get()) given();
  else ask();
}

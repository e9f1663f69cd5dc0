/** The dialog for the key of this tab, and the warning of a service that needs no key. */

import { byId, fill } from "./element.js";
import { get, key, whenRefused } from "./service.js";
import { trouble } from "./trouble.js";

/** Wire the dialog. `onKey` is called after a new key, and at once when none is needed or one is stored. */
export async function keys(onKey) {
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
    onKey();
  });
  whenRefused(ask);
  const { open } = await get("/health/live").catch(() => ({ open: false }));
  byId("open").hidden = !open;
  byId("key").hidden = open;
  if (open || key.get()) onKey();
  else ask();
}

/** Tabs by the ARIA pattern: one stop of the Tab key, arrows, Home and End between them. */

/** Wire a tablist; `shown` is called with the id of each panel that is opened. Returns a function that opens one. */
export function tabs(list, shown = () => {}) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const open = (tab, focus = false) => {
    for (const other of all) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    shown(tab.getAttribute("aria-controls"));
  };
  const step = { ArrowRight: 1, ArrowLeft: -1 };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) open(tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = all.indexOf(document.activeElement);
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1
      : event.key in step ? (at + step[event.key] + all.length) % all.length : -1;
    if (at < 0 || to < 0) return;
    event.preventDefault();
    open(all[to], true);
  });
  open(all[0]);
  return (id) => open(all.find((tab) => tab.getAttribute("aria-controls") === id));
}

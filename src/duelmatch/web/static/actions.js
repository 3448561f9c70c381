// Buttons that change the study: data-do names the operation, data-body what to send, data-sure what to ask first,
// data-preview the change to say the consequences of, and data-prompt what to ask for; data-path is where in the body
// that goes, as a list if there is data-list.
import { call, element, trouble } from "/static/api.js";

export async function attempt(work) {
  trouble(null);
  try {
    await work();
  } catch (error) {
    trouble(error.message);
    element("trouble").scrollIntoView({ block: "center" });
  }
}

// Ask whether to go on, and say what it would change as soon as the server knows.
async function certain(button, study) {
  const { sure, preview } = button.dataset;
  const dialog = element("preview");
  if (!sure || !preview || !dialog) return !sure || confirm(sure);
  element("preview-question").textContent = sure;
  const items = (sentences) => sentences.map((text) => Object.assign(document.createElement("li"), { textContent: text }));
  const say = (sentences) => element("preview-changes").replaceChildren(...items(sentences));
  say(["What it would change is being looked at …"]);
  dialog.returnValue = "no";
  dialog.showModal();
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  call(`${study}/preview`, JSON.parse(preview)).then(
    ({ sentences }) => say(sentences),
    (error) => say([error.message]),
  );
  await closed;
  return dialog.returnValue === "yes";
}

export function listen(place, study, done) {
  place.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-do]");
    if (!button || !(await certain(button, study))) return;
    const body = button.dataset.body ? JSON.parse(button.dataset.body) : undefined;
    if (button.dataset.prompt) {
      const given = prompt(button.dataset.prompt, button.dataset.value || "");
      if (given === null || !given.trim()) return;
      const path = JSON.parse(button.dataset.path);
      const inner = path.slice(0, -1).reduce((part, key) => part[key], body);
      const names = given.split(",").map((part) => part.trim()).filter(Boolean);
      inner[path.at(-1)] = "list" in button.dataset ? names : given.trim();
    }
    attempt(async () => {
      button.disabled = true;
      try {
        const made = await call(`${study}/${button.dataset.do}`, body);
        await done(button, made);
      } finally {
        button.disabled = false;
      }
    });
  });
}

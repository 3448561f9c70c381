// Buttons that change the study: data-do names the operation, data-body what to send, data-sure what to ask first,
// and data-preview the change to say the consequences of.
import { call, element, part, trouble } from "/static/api.js";

export async function attempt(work) {
  trouble(null);
  try {
    await work();
  } catch (error) {
    trouble(error.message);
    element("trouble").scrollIntoView({ block: "center" });
  }
}

// Ask whether to go on, and say what it would change as soon as the server knows, where that can be told before.
async function certain(button, study) {
  const { sure, preview } = button.dataset;
  const dialog = element("preview");
  if (!sure || !dialog) return !sure || confirm(sure);
  element("preview-question").textContent = sure;
  const say = (sentences) => element("preview-changes").replaceChildren(...sentences.map((text) => part("li", {}, text)));
  say(preview ? ["Working out what would change …"] : []);
  dialog.returnValue = "no";
  dialog.showModal();
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (preview) {
    call(`${study}/preview`, JSON.parse(preview)).then(
      ({ sentences }) => say(sentences),
      (error) => say([error.message]),
    );
  }
  await closed;
  return dialog.returnValue === "yes";
}

export function listen(place, study, done) {
  place.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-do]");
    if (!button || !(await certain(button, study))) return;
    const body = button.dataset.body ? JSON.parse(button.dataset.body) : undefined;
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

// Buttons that do something to the study: data-do says which operation, data-body with what, data-sure what to ask first.
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

export function listen(place, study, done) {
  place.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (!button || (button.dataset.sure && !confirm(button.dataset.sure))) return;
    attempt(async () => {
      button.disabled = true;
      try {
        const made = await call(`${study}/${button.dataset.do}`, button.dataset.body ? JSON.parse(button.dataset.body) : undefined);
        await done(button, made);
      } finally {
        button.disabled = false;
      }
    });
  });
}

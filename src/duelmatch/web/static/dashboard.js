// The organiser's page: what changes comes from the server as it is to be shown, whenever something has happened.
import { call, element, show, trouble } from "/static/api.js";

const id = element("dashboard").dataset.study;
const study = `/studies/${id}`;
let refreshing = false;
let again = false;
let pressed = false; // a button that is being pressed must not be replaced before it is let go

function replace(html) {
  const open = element("links")?.open;
  const focused = document.activeElement?.dataset?.do;
  const scrolled = [...document.querySelectorAll("#live .scroll")].map((part) => part.scrollTop);
  element("live").innerHTML = html; // escaped by the server, and no script runs by the page's policy
  if (open) element("links").open = true;
  if (focused) document.querySelector(`[data-do="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  document.querySelectorAll("#live .scroll").forEach((part, number) => (part.scrollTop = scrolled[number] || 0));
}

async function refresh() {
  if (pressed) {
    setTimeout(refresh, 300);
    return;
  }
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  try {
    const answer = await fetch(`${study}/live`);
    if (answer.ok) {
      const html = await answer.text();
      if (pressed) again = true;
      else replace(html);
    }
  } catch {
    // the stream of events connects again, and then there is another refresh
  } finally {
    refreshing = false;
  }
  if (again) {
    again = false;
    setTimeout(refresh, 500);
  }
}

async function attempt(work) {
  trouble(null);
  try {
    await work();
  } catch (error) {
    trouble(error.message);
  }
}

async function share(token, who) {
  const link = `${location.origin}/l/${token}`;
  element("link-for").textContent = `${who} It is shown once:`;
  element("link-text").value = link;
  element("qr").innerHTML = await call(`${study}/qr`, { token });
  show("link", true);
  element("link-text").select();
}

element("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = element("voter-name").value.trim();
  attempt(async () => {
    const made = await call(`${study}/voters`, { name: name || null });
    element("voter-name").value = "";
    await share(made.token, `The link of ${name || `voter ${made.voter}`}, for nobody else.`);
  });
});
element("open-link").addEventListener("click", () =>
  attempt(async () => share((await call(`${study}/open-link`)).token, "With this link anybody can vote.")),
);
element("organiser-link").addEventListener("click", () =>
  attempt(async () => share((await call(`${study}/organiser-link`)).token, "With this link one can do all that you can.")),
);
element("copy").addEventListener("click", async () => {
  element("link-text").select();
  try {
    await navigator.clipboard.writeText(element("link-text").value);
    element("copy").textContent = "Copied";
  } catch {
    document.execCommand("copy");
  }
});
element("duplicate").addEventListener("click", () => {
  const name = prompt("What is the copy called?", document.querySelector("h1").textContent);
  if (name)
    attempt(async () => {
      const made = await call(`${study}/duplicate`, { name });
      await share(made.organiser_token, "The organiser's link of the copy: open it to go there.");
    });
});
element("forget").addEventListener("click", () => {
  if (confirm("Forget this study in this browser? You need the organiser's link to come back."))
    attempt(async () => {
      await call(`${study}/forget`);
      location.assign("/");
    });
});
element("live").addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (!button || (button.dataset.sure && !confirm(button.dataset.sure))) return;
  attempt(async () => {
    button.disabled = true;
    try {
      await call(`${study}/${button.dataset.do}`, button.dataset.body ? JSON.parse(button.dataset.body) : undefined);
    } finally {
      button.disabled = false;
    }
    await refresh();
  });
});

document.addEventListener("pointerdown", () => (pressed = true));
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(() => (pressed = false), 0));

new EventSource(`/api/v1${study}/events`).addEventListener("progress", refresh);

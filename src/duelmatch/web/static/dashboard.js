// The organiser's page: what changes comes from the server as it is to be shown, whenever something has happened.
import { call, copy, element, linkOf, show } from "/static/api.js";
import { attempt, listen } from "/static/actions.js";

const id = element("dashboard").dataset.study;
const study = `/studies/${id}`;
const live = element("live");
let refreshing = false;
let again = false;
let pressed = false; // a button that is being pressed must not be replaced before it is let go

// How to find something again after the page was replaced: by its id, or by what it does and to whom.
function selectorOf(part) {
  if (!part || !live.contains(part)) return null;
  if (part.id) return `#${CSS.escape(part.id)}`;
  const named = ["do", "body"].filter((key) => part.dataset[key]);
  return named.length ? named.map((key) => `[data-${key}="${CSS.escape(part.dataset[key])}"]`).join("") : null;
}

function replace(html) {
  const open = [...live.querySelectorAll("details[open]")].map((part) => part.id);
  const focused = selectorOf(document.activeElement);
  const scrolled = [...live.querySelectorAll(".scroll")].map((part) => part.scrollTop);
  const before = element("headline").textContent;
  live.innerHTML = html; // escaped by the server, and no script runs by the page's policy
  for (const part of open) element(part)?.setAttribute("open", "");
  if (focused) live.querySelector(focused)?.focus({ preventScroll: true });
  live.querySelectorAll(".scroll").forEach((part, number) => (part.scrollTop = scrolled[number] || 0));
  const after = element("headline").textContent;
  if (after !== before) element("news").textContent = after;
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
    const answer = await fetch(`${study}/live${location.search}`);
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

// Show a link, with a picture of it if it is one of this study: another one draws its own.
async function share(token, who, drawn = true) {
  element("share").open = true;
  element("link-for").textContent = `${who} It is shown once:`;
  element("link-text").value = linkOf(token);
  element("copy").textContent = "Copy";
  element("qr").replaceChildren();
  show("link", true);
  element("link").scrollIntoView({ block: "nearest" });
  element("link-text").focus({ preventScroll: true });
  element("link-text").select();
  if (drawn) element("qr").innerHTML = await call(`${study}/qr`, { token });
}

element("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = element("voter-name").value.trim();
  attempt(async () => {
    const made = await call(`${study}/voters`, { name: name || null });
    element("voter-name").value = "";
    await share(made.token, `The link of ${name || "this voter"}, for nobody else.`);
  });
});
element("open-link").addEventListener("click", () => {
  const { sure } = element("open-link").dataset; // what an open link does to a panel
  if (!sure) attempt(async () => share((await call(`${study}/open-link`)).token, "With this link anybody can vote."));
  else if (confirm(sure))
    attempt(async () => share((await call(`${study}/open-link`, { judges: true })).token, "With this link anybody becomes a judge."));
});
element("organiser-link").addEventListener("click", () =>
  attempt(async () => share((await call(`${study}/organiser-link`)).token, "Whoever has this link can do everything you can.")),
);
element("copy").addEventListener("click", () => copy(element("link-text"), element("copy")));
element("duplicate")?.addEventListener("click", () => {
  const name = prompt("What is the copy called?", document.querySelector("h1").textContent);
  if (name)
    attempt(async () => {
      const made = await call(`${study}/duplicate`, { name, key: element("key")?.value || "" });
      await share(made.organiser_token, "The organiser's link of the copy: open it to go there.", false);
    });
});
element("forget").addEventListener("click", () => {
  if (confirm("Forget this study in this browser? You need the organiser's link to come back."))
    attempt(async () => {
      await call(`${study}/forget`);
      location.assign("/");
    });
});
listen(live, study, async (button, made) => {
  if (button.dataset.whose) await share(made.token, `Another link of ${button.dataset.whose}, for nobody else.`);
  await refresh();
});

document.addEventListener("pointerdown", () => (pressed = true));
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(() => (pressed = false), 0));

const events = new EventSource(`/api/v1${study}/events`);
events.addEventListener("progress", refresh);
events.addEventListener("error", () => {
  if (events.readyState === EventSource.CLOSED) setInterval(refresh, 5000); // refused, so it does not connect again
});

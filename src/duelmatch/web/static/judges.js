// The page of the judges: add many, make new links, and note conflicts of interest.
import { call, element, fieldError } from "/static/api.js";
import { attempt } from "/static/actions.js";
import { showLinks } from "/static/links.js";

const id = element("judges-page").dataset.study;
const study = `/studies/${id}`;
const boxes = () => [...document.querySelectorAll(".chosen:not(:disabled)")];

function made(voters, others) {
  showLinks(id, voters, others);
  element("made-title").focus();
  element("made").scrollIntoView({ block: "start" });
}

element("judges").addEventListener("input", () => fieldError("judges", null));
element("add-judges").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = element("judges").value;
  if (!text.trim()) {
    fieldError("judges", "Give at least one name.");
    return;
  }
  try {
    const people = await call(`${study}/voters/read`, { text });
    const others = Object.fromEntries(people.map((person) => [person.name, person.others]));
    const voters = people.map(({ name, weight, conflicts }) => ({ name, weight, conflicts }));
    made(await call(`${study}/voters/bulk`, { voters }), others);
    element("judges").value = "";
  } catch (error) {
    fieldError("judges", error.message);
  }
});

const choose = (which) => boxes().forEach((box) => (box.checked = which(box)));
element("choose-all")?.addEventListener("click", () => choose(() => true));
element("choose-waiting")?.addEventListener("click", () => choose((box) => box.dataset.waiting === "yes"));
element("new-links")?.addEventListener("click", () =>
  attempt(async () => {
    const voters = boxes().filter((box) => box.checked).map((box) => box.value);
    if (!voters.length) throw new Error("Choose for whom first.");
    if (!confirm(`New links for ${voters.length === 1 ? "one of them" : `${voters.length} of them`}? Their old links then open nothing any more.`)) return;
    made(await call(`${study}/voters/links`, { voters }));
  }),
);

for (const button of document.querySelectorAll(".save-conflicts"))
  button.addEventListener("click", () =>
    attempt(async () => {
      const line = button.closest("[data-voter]");
      const changed = [...line.querySelectorAll(".conflict")].filter((box) => box.checked !== ("had" in box.dataset));
      for (const [ticked, path] of [[true, "conflicts"], [false, "conflicts/clear"]]) {
        const candidates = changed.filter((box) => box.checked === ticked).map((box) => box.value);
        if (candidates.length) await call(`${study}/voters/${line.dataset.voter}/${path}`, { candidates });
      }
      location.reload();
    }),
  );

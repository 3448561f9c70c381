// The page of the judges: add many, make new links, and note conflicts of interest.
import { call, element, fieldError, part } from "/static/api.js";
import { attempt } from "/static/actions.js";
import { showLinks } from "/static/links.js";

const id = element("judges-page").dataset.study;
const study = `/studies/${id}`;
const boxes = [...document.querySelectorAll(".chosen:not(:disabled)")];
const data = (id) => JSON.parse(element(id)?.textContent || "[]");
const choices = data("choices"); // who may get new links, on all pages: whether they have not begun
const chosen = new Set();

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

// Tick those who are chosen, and say how many they are: most of them may be on other pages.
function showChosen() {
  for (const box of boxes) box.checked = chosen.has(box.value);
  element("chosen").textContent = chosen.size ? `${chosen.size.toLocaleString("en")} chosen` : "";
}

function choose(which) {
  chosen.clear();
  for (const [voter, waits] of choices) if (which(waits)) chosen.add(voter);
  showChosen();
}

for (const box of boxes) {
  if (box.checked) chosen.add(box.value); // as the browser has kept it
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(box.value);
    else chosen.delete(box.value);
    showChosen();
  });
}
element("choose-all")?.addEventListener("click", () => choose(() => true));
element("choose-waiting")?.addEventListener("click", () => choose((waits) => waits));
element("new-links")?.addEventListener("click", () =>
  attempt(async () => {
    const voters = [...chosen];
    if (!voters.length) throw new Error("Choose for whom first.");
    if (!confirm(`New links for ${voters.length === 1 ? "one of them" : `${voters.length} of them`}? Their old links then open nothing any more.`)) return;
    made(await call(`${study}/voters/links`, { voters }));
  }),
);

// The candidates are on the page once; whom a judge does not judge is filled in when it is looked at.
function showConflicts(line, details) {
  const sealed = "sealed" in line.dataset;
  const had = new Set(JSON.parse(line.dataset.conflicts));
  const filled = element("conflicts").content.cloneNode(true);
  for (const who of filled.querySelectorAll(".who")) who.textContent = line.dataset.name;
  for (const other of filled.querySelectorAll(sealed ? ".if-open" : ".if-sealed")) other.remove();
  const ticks = data("candidates").map(([name, title], number) => {
    const box = part("input", { type: "checkbox", className: "conflict", value: name, checked: had.has(number), disabled: sealed });
    return part("label", { className: "choice" }, box, ` ${title}`);
  });
  filled.querySelector(".ticks").replaceChildren(...ticks);
  filled.querySelector(".save-conflicts")?.addEventListener("click", () => attempt(() => saveConflicts(line, had)));
  details.append(filled);
}

async function saveConflicts(line, had) {
  const changed = [...line.querySelectorAll(".conflict")].filter((box, number) => box.checked !== had.has(number));
  for (const [ticked, path] of [[true, "conflicts"], [false, "conflicts/clear"]]) {
    const candidates = changed.filter((box) => box.checked === ticked).map((box) => box.value);
    if (candidates.length) await call(`${study}/voters/${line.dataset.voter}/${path}`, { candidates });
  }
  location.reload();
}

for (const details of document.querySelectorAll(".conflicts"))
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector("fieldset")) showConflicts(details.closest("[data-voter]"), details);
  });

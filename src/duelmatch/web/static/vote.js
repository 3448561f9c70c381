// The voter's page: one duel at a time, by mouse, touch or keyboard.
import { call, element, get, patiently, show, trouble } from "/static/api.js";

const page = element("main");
const study = `/studies/${page.dataset.study}`;
const QUIET = 300; // milliseconds in which a new duel cannot be answered: the second click of two is not for it
const ENDS = {
  done: ["That is all: the result is clear", "Enough votes are in. Thank you for yours!"],
  waiting: ["One moment", "The next question depends on what others are answering right now."],
  "all yours": ["You have answered everything", "There is nothing left to ask you. Thank you!"],
  budget: ["That is all", "As many votes as were planned are in. Thank you for yours!"],
  paused: ["The study is paused", "The organiser has paused it. This page goes on by itself when it does."],
  closed: ["The study is closed", "Thank you for taking part!"],
};
const COME_BACK = { waiting: 2000, paused: 8000 };

let duel = null;
let details = { candidates: {}, positions: {} };
let answered = 0;
let last = null; // the number of the duel that was answered last
let busy = false;
let shownAt = 0;
let asking = false;
let said = "";

const named = (entries) => Object.fromEntries(entries.map((e) => (typeof e === "string" ? [e, {}] : [e.name, e])));

function isWebAddress(address, ...protocols) {
  try {
    return protocols.includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

const titleOf = (name) => details.candidates[name]?.title || name;

// Tell a screen reader what became of the last answer, and what there is now.
function say(next) {
  element("status").textContent = `${said} ${next}`.trim();
  said = "";
}

function card(side, number) {
  const name = duel[side];
  const about = details.candidates[name] || {};
  const button = element(side);
  const parts = [];
  if (about.picture && isWebAddress(about.picture, "https:")) {
    const picture = document.createElement("img");
    picture.src = about.picture;
    picture.alt = "";
    parts.push(picture);
  }
  const add = (tag, kind, text) => {
    const part = document.createElement(tag);
    part.className = kind;
    part.textContent = text;
    parts.push(part);
  };
  add("span", "title", titleOf(name));
  if (about.text) add("span", "text", about.text);
  add("kbd", "", String(number));
  button.replaceChildren(...parts);
  const more = button.parentElement.querySelector(".more");
  more.hidden = !(about.link && isWebAddress(about.link, "https:", "http:"));
  if (!more.hidden) more.href = about.link;
  else more.removeAttribute("href");
}

function draw() {
  show("join", false);
  show("duel", duel.number !== null);
  show("end", duel.number === null);
  element("undo").disabled = answered === 0;
  element("end-undo").hidden = answered === 0 || duel.reason === "closed";
  if (duel.number === null) {
    const [title, text] = ENDS[duel.reason];
    const before = element("end-title").textContent;
    element("end-title").textContent = title;
    element("end-text").textContent = text;
    if (before !== title) {
      element("end-title").focus();
      say(text);
    }
    if (COME_BACK[duel.reason]) setTimeout(() => act(async () => {}), COME_BACK[duel.reason]);
    return;
  }
  element("end-title").textContent = "";
  const position = details.positions[duel.position] || {};
  element("question").textContent = position.title || duel.position;
  element("about").textContent = position.text || "";
  card("left", 1);
  card("right", 2);
  say(`1: ${titleOf(duel.left)}. 2: ${titleOf(duel.right)}.`);
  shownAt = performance.now();
  element("question").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function stillNeeded({ votes_left: left, state }) {
  if (state === "closed" || left === 0) return "; no more are needed";
  if (left === null) return "; how many are still needed from everyone is not known yet";
  return left === 1
    ? ", about 1 is still needed from everyone"
    : `, about ${Number(left.toPrecision(2)).toLocaleString()} are still needed from everyone`;
}

async function tellProgress() {
  if (asking) return;
  asking = true;
  try {
    element("count").textContent = `You have answered ${answered}${stillNeeded(await get(`${study}/progress`))}`;
  } catch {
    element("count").textContent = `You have answered ${answered}`;
  } finally {
    asking = false;
  }
}

// Do something, then show the duel that is next; one thing at a time.
async function act(work) {
  if (busy) return;
  busy = true;
  page.setAttribute("aria-busy", "true");
  try {
    const next = await work();
    duel = next || (await patiently(() => call(`${study}/duel`), trouble));
    draw();
  } catch (error) {
    if (error.status === 409) {
      duel = await patiently(() => call(`${study}/duel`), trouble).catch(() => duel);
      if (duel) draw();
    }
    trouble(error.message);
  } finally {
    busy = false;
    page.removeAttribute("aria-busy");
  }
  tellProgress();
}

const ready = () => duel && duel.number !== null && performance.now() - shownAt > QUIET;

function answer(side) {
  if (busy || !ready()) return;
  const { number } = duel;
  const winner = side ? duel[side] : null;
  act(async () => {
    const kept = await patiently(() => call(`${study}/duels/${number}/answer`, { winner }), trouble);
    last = number;
    answered = kept.repeated ? (await get(`${study}/me`)).answers : answered + 1; // repeated: it was given in another tab
    said = kept.tie ? "Kept: no difference." : `Kept: ${titleOf(kept.winner)}.`;
  });
}

function skip(reason) {
  if (!duel || duel.number === null) return;
  const { number } = duel;
  act(async () => {
    await patiently(() => call(`${study}/duels/${number}/skip`, { reason }), trouble);
    said = "Skipped.";
  });
}

function undo() {
  if (answered === 0) return;
  act(async () => {
    const again = await patiently(() => call(`${study}/undo`, last && { number: last }), trouble);
    ({ answers: answered, last } = await get(`${study}/me`));
    said = "Your last answer is taken back; here is its question again.";
    return again;
  });
}

function askWhy() {
  if (page.dataset.skips !== "yes" || busy || !duel || duel.number === null) return;
  const dialog = element("why");
  dialog.returnValue = "";
  dialog.showModal();
}

async function begin() {
  busy = true;
  try {
    const [about, me] = await patiently(
      () => Promise.all([get(study), get(`${study}/me`)]),
      trouble,
    );
    details = { candidates: named(about.problem.candidates), positions: named(about.problem.positions) };
    answered = me.answers;
    last = me.last;
  } catch (error) {
    trouble(error.message);
    return;
  } finally {
    busy = false;
  }
  await act(async () => {});
}

for (const side of ["left", "right"]) {
  element(side).addEventListener("click", (event) => {
    if (event.detail < 2) answer(side);
  });
}
element("tie").addEventListener("click", (event) => {
  if (event.detail < 2) answer(null);
});
element("skip").addEventListener("click", askWhy);
element("undo").addEventListener("click", (event) => {
  if (event.detail < 2) undo();
});
element("end-undo").addEventListener("click", undo);
element("why").addEventListener("close", () => {
  if (element("why").returnValue) skip(element("why").returnValue);
});
element("begin").addEventListener("click", async () => {
  element("begin").disabled = true;
  try {
    await patiently(() => call(`${study}/join`), trouble);
    await begin();
  } catch (error) {
    trouble(error.message);
    element("begin").disabled = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || element("why").open) return;
  const key = event.key.toLowerCase();
  if (key === "1") answer("left");
  else if (key === "2") answer("right");
  else if (key === "t" && page.dataset.ties === "yes") answer(null);
  else if (key === "s") {
    event.preventDefault();
    askWhy();
  } else if (key === "u") undo();
});

if (page.dataset.joined === "yes") begin();
else show("join", true);

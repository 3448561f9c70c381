// The voter's page: one question at a time, by mouse, touch or keyboard.
import { call, element, get, patiently, show, trouble } from "/static/api.js";

const page = element("main");
const study = `/studies/${page.dataset.study}`;
const QUIET = 300; // milliseconds in which a new question cannot be answered: a double click is not for the next one
const ENDS = {
  done: ["That is all: the result is clear", "Enough votes are in. Thank you for yours!"],
  waiting: ["One moment", "The next question depends on what others are answering right now."],
  "all yours": ["That is all that you are asked", "There is nothing left to ask you. Thank you!"],
  late: ["Your time is over", "The rest of your questions went to others. Thank you for your votes!"],
  left: ["You have left", "The organiser has noted that you left. Thank you for your votes!"],
  budget: ["That is all", "As many votes as were planned are in. Thank you for yours!"],
  paused: ["The study is paused", "The organiser has paused it. This page continues by itself when voting does."],
  closed: ["The study is closed", "Thank you for taking part!"],
};
const COME_BACK = { waiting: 2000, paused: 8000 };

let question = null;
let ranking = []; // groups of candidates chosen so far, best first, where there are more than two
let level = false; // whether the next one is level with the last
let details = { candidates: {}, positions: {} };
let answered = 0;
let last = null; // the number of the question that was answered last
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
const written = (groups) => groups.map((group) => group.map(titleOf).join(" = ")).join(" > ");
const isRanking = () => question.candidates.length > 2;
const left = () => question.candidates.filter((name) => !ranking.flat().includes(name));

// Tell a screen reader what became of the last answer, and what there is now.
function say(next) {
  element("status").textContent = `${said} ${next}`.trim();
  said = "";
}

function card(name, number) {
  const about = details.candidates[name] || {};
  const article = document.createElement("article");
  const button = document.createElement("button");
  const add = (tag, kind, text) => {
    const part = document.createElement(tag);
    part.className = kind;
    part.textContent = text;
    button.append(part);
  };
  article.className = "card";
  button.type = "button";
  button.className = "choose";
  button.id = `choice-${number}`;
  button.setAttribute("aria-keyshortcuts", String(number % 10));
  if (about.picture && (about.picture.startsWith("/pictures/") || isWebAddress(about.picture, "https:"))) {
    const picture = document.createElement("img");
    picture.src = about.picture;
    picture.alt = "";
    button.append(picture);
  }
  add("span", "title", titleOf(name));
  if (about.place) add("span", "place", about.place);
  if (about.text) add("span", "text", about.text);
  add("kbd", "", String(number % 10));
  button.addEventListener("click", (event) => {
    if (event.detail < 2) choose(number - 1);
  });
  article.append(button);
  if (about.link && isWebAddress(about.link, "https:", "http:")) {
    const more = document.createElement("a");
    Object.assign(more, { className: "more", href: about.link, target: "_blank", rel: "noopener noreferrer" });
    more.textContent = "More about this candidate";
    article.append(more);
  }
  return article;
}

// Show what was chosen so far, and mark the buttons of those who are chosen.
function drawRanking() {
  show("ranking", isRanking());
  show("level", isRanking());
  show("again", isRanking());
  element("tie").hidden = page.dataset.ties !== "yes" || isRanking();
  if (!isRanking()) return;
  const chosen = ranking.flat();
  question.candidates.forEach((name, number) => {
    const button = element(`choice-${number + 1}`);
    button.disabled = chosen.includes(name);
    button.setAttribute("aria-pressed", String(chosen.includes(name)));
  });
  element("so-far").textContent = chosen.length ? written(ranking) : "Choose the best first, then the next best, and so on.";
  element("level").disabled = chosen.length === 0 || page.dataset.ties !== "yes";
  element("level").setAttribute("aria-pressed", String(level));
  element("again").disabled = chosen.length === 0;
}

function draw() {
  show("join", false);
  show("question-part", question.number !== null);
  show("end", question.number === null);
  element("undo").disabled = answered === 0;
  element("end-undo").hidden = answered === 0 || question.reason === "closed";
  if (question.number === null) {
    const [title, text] = ENDS[question.reason];
    const before = element("end-title").textContent;
    element("end-title").textContent = title;
    element("end-text").textContent = text;
    if (before !== title) {
      element("end-title").focus();
      say(text);
    }
    if (COME_BACK[question.reason]) setTimeout(() => act(async () => {}), COME_BACK[question.reason]);
    return;
  }
  ranking = [];
  level = false;
  element("end-title").textContent = "";
  const position = details.positions[question.position] || {};
  element("question").textContent = position.title || question.position;
  element("about").textContent = position.text || "";
  const cards = question.candidates.map((name, number) => card(name, number + 1));
  const or = document.createElement("p");
  Object.assign(or, { className: "or", textContent: "or" });
  or.setAttribute("aria-hidden", "true");
  if (!isRanking()) cards.splice(1, 0, or);
  element("cards").replaceChildren(...cards);
  drawRanking();
  say(question.candidates.map((name, number) => `${number + 1}: ${titleOf(name)}.`).join(" "));
  shownAt = performance.now();
  element("question").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function stillNeeded({ answers_left: more, phase }) {
  if (phase === "closed" || more === 0) return "; no more are asked for";
  if (more === null) return "";
  return more === 1
    ? ", about 1 is still needed from everyone"
    : `, about ${Number(more.toPrecision(2)).toLocaleString()} are still needed from everyone`;
}

async function tellProgress() {
  if (asking) return;
  asking = true;
  const own = question?.of ? `Question ${question.place} of ${question.of}` : `You have answered ${answered}`;
  try {
    element("count").textContent = own + (question?.of ? "" : stillNeeded(await get(`${study}/progress`)));
  } catch {
    element("count").textContent = own;
  } finally {
    asking = false;
  }
}

// Do something, then show the question that is next; one thing at a time.
async function act(work) {
  if (busy) return;
  busy = true;
  page.setAttribute("aria-busy", "true");
  try {
    const next = await work();
    question = next || (await patiently(() => call(`${study}/question`), trouble));
    draw();
  } catch (error) {
    if (error.status === 409) {
      question = await patiently(() => call(`${study}/question`), trouble).catch(() => question);
      if (question) draw();
    }
    trouble(error.message);
  } finally {
    busy = false;
    page.removeAttribute("aria-busy");
  }
  tellProgress();
}

const ready = () => question && question.number !== null && performance.now() - shownAt > QUIET;

function answer(value) {
  if (busy || !ready()) return;
  const { number } = question;
  act(async () => {
    const kept = await patiently(() => call(`${study}/questions/${number}/answer`, { answer: value, next: true }), trouble);
    last = number;
    answered = kept.repeated ? (await get(`${study}/me`)).answers : answered + 1; // repeated: given in another tab
    said = kept.answer.length === 1 ? "Kept: no difference." : `Kept: ${written(kept.answer)}.`;
    element("receipt").textContent = `Receipt of your last vote: ${kept.hash.slice(0, 12)}`;
    element("receipt").title = `The hash of entry ${kept.entry} of the log: ${kept.hash}`;
    return kept.next;
  });
}

// Choose a candidate: that is the answer if there are two, and the next place if there are more.
function choose(number) {
  const name = question?.candidates?.[number];
  if (busy || !name || !ready()) return;
  if (!isRanking()) {
    answer(name);
    return;
  }
  if (ranking.flat().includes(name)) return;
  if (level) ranking.at(-1).push(name);
  else ranking.push([name]);
  level = false;
  const rest = left();
  if (rest.length === 1) {
    ranking.push(rest);
    answer(ranking);
    return;
  }
  drawRanking();
  say(`${written(ranking)}.`);
  element(`choice-${question.candidates.indexOf(rest[0]) + 1}`).focus({ preventScroll: true });
}

// The next one is level with the last; when only one is left, that completes the ranking.
function toggleLevel() {
  if (busy || !ready() || !isRanking() || !ranking.length || page.dataset.ties !== "yes") return;
  level = !level;
  if (level && left().length === 1) {
    ranking.at(-1).push(...left());
    answer(ranking);
    return;
  }
  drawRanking();
  say(level ? `The next one is level with ${titleOf(ranking.at(-1)[0])}.` : "The next one is behind.");
}

function startAgain() {
  if (busy || !question || question.number === null || !isRanking()) return;
  ranking = [];
  level = false;
  drawRanking();
  say("The ranking is empty again.");
}

function skip(reason) {
  if (!question || question.number === null) return;
  const { number } = question;
  act(async () => {
    await patiently(() => call(`${study}/questions/${number}/skip`, { reason }), trouble);
    said = "Skipped.";
  });
}

function undo() {
  if (answered === 0) return;
  act(async () => {
    const again = await patiently(() => call(`${study}/undo`, last && { number: last }), trouble);
    ({ answers: answered, last } = await get(`${study}/me`));
    element("receipt").textContent = "";
    said = "Your last vote is taken back; here is its question again.";
    return again;
  });
}

function askWhy() {
  if (page.dataset.skips !== "yes" || busy || !question || question.number === null) return;
  const dialog = element("why");
  dialog.returnValue = "";
  dialog.showModal();
}

async function begin() {
  busy = true;
  try {
    const [about, me] = await patiently(() => Promise.all([get(study), get(`${study}/me`)]), trouble);
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

const once = (work) => (event) => {
  if (event.detail < 2) work();
};
element("tie").addEventListener("click", once(() => answer(null)));
element("level").addEventListener("click", once(toggleLevel));
element("again").addEventListener("click", startAgain);
element("skip").addEventListener("click", askWhy);
element("undo").addEventListener("click", once(undo));
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
  if (/^[0-9]$/.test(key)) choose(key === "0" ? 9 : Number(key) - 1);
  else if (key === "t" && page.dataset.ties === "yes" && question?.number) {
    if (isRanking()) toggleLevel();
    else answer(null);
  } else if (key === "r") startAgain();
  else if (key === "s") {
    event.preventDefault();
    askWhy();
  } else if (key === "u") undo();
});

if (page.dataset.joined === "yes") begin();
else show("join", true);

// The voter's page: one question at a time, by mouse, touch or keyboard.
import { call, element, get, patiently, Refused, show, trouble } from "/static/api.js";
import { card, fill, fillCount, isolated, made, words } from "/static/cards.js";
import { Outbox } from "/static/outbox.js";

const page = element("main");
const data = JSON.parse(element("data").textContent);
const study = `/studies/${data.study}`;
const QUIET = 300; // milliseconds in which a new question cannot be answered: a double click is not for the next one
const COME_BACK = { waiting: 2000, paused: 8000, closed: 15000 + 5000 * Math.random() }; // not all phones at once
const LOOK_AGAIN = 5; // after so many answers, ask how many more there will be

const named = (entries) => Object.fromEntries(entries.map((e) => (typeof e === "string" ? [e, {}] : [e.name, e])));
const detailsOf = ({ problem }) => ({ candidates: named(problem.candidates), positions: named(problem.positions) });

let details = detailsOf(data);
let me = data.me;
let outbox = me && new Outbox(data.study, me.voter);
let question = null;
let ranking = null; // the ranking in the making, where there are more than two
let busy = false;
let shownAt = 0;
let said = "";
let notice = null; // what to say about the last answer where everybody sees it
let coming = null; // when to look again, where there is no question
let skipped = false; // whether a question was skipped after the last answer
let pointedAt = null; // the candidate with whom something is wrong

const titleOf = (name) => details.candidates[name]?.title || name;
const written = (groups) => groups.map((group) => group.map((name) => isolated(titleOf(name))).join(" = ")).join(" > ");
const isRanking = () => question.candidates.length > 2;
const isAsked = () => question !== null && question.number !== null;
const ready = () => isAsked() && performance.now() - shownAt > QUIET;

// Tell a screen reader what became of the last answer, and what there is now.
function say(next) {
  element("status").textContent = `${said} ${next}`.trim();
  said = "";
}

// Try until the server answers; meanwhile say why nothing happens.
const insist = (work, sentence = words.waiting) => patiently(work, (waiting) => trouble(waiting && sentence));
const refusal = (error, kind) => {
  if (error.status === 403 && me?.struck) return words.refused.struck;
  return words.refused[error.status === 409 && kind ? kind : error.status] || words.refused.other;
};

// Look whether there is something new; at once when a phone is taken out of a pocket.
const comeBack = () => act(async () => {});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && COME_BACK[question?.reason]) comeBack();
});

// What to say below the title of an end; once the result is on the page, nothing is to come.
function endText() {
  const [, text, later] = words.ends[question.reason];
  return later && !element("result") ? `${text} ${later}` : text;
}

function drawEnd() {
  const [title] = words.ends[question.reason];
  const before = element("end-title").textContent;
  element("end-title").textContent = title;
  element("end-text").textContent = endText();
  if (before !== title) {
    element("end-title").focus();
    say(endText());
  }
  if (question.reason === "closed" && question.published !== Boolean(element("result"))) showResult();
  clearTimeout(coming);
  if (COME_BACK[question.reason]) coming = setTimeout(comeBack, COME_BACK[question.reason]);
}

// Show the result that the organiser has just published, or hide it again: it is on the page when that is loaded anew.
async function showResult() {
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const loaded = new DOMParser().parseFromString(await answer.text(), "text/html");
    element("result-part").replaceChildren(...loaded.getElementById("result-part").childNodes);
    element("end-text").textContent = endText();
    say(element("result")?.textContent || endText());
  } catch {
    // it is looked for again in a while
  }
}

function draw() {
  show("join", false);
  show("question-part", isAsked());
  show("end", !isAsked());
  element("undo").disabled = !me.last;
  element("end-undo").hidden = !me.last || question.reason === "closed";
  if (!isAsked()) {
    drawEnd();
    return;
  }
  element("end-title").textContent = "";
  const position = details.positions[question.position] || {};
  element("asks").textContent = isRanking() ? words.asks_many : words.asks_two;
  element("question").textContent = position.title || question.position;
  element("about").textContent = position.text || "";
  const cards = question.candidates.map((name, number) =>
    card(titleOf(name), details.candidates[name] || {}, number + 1, () => choose(number), () => askWhatIsWrong(name)),
  );
  if (!isRanking()) cards.splice(1, 0, made("p", "or", words.or, { "aria-hidden": "true" }));
  element("cards").replaceChildren(...cards);
  drawRanking();
  say(question.candidates.map((name, number) => `${number + 1}: ${isolated(titleOf(name))}.`).join(" "));
  if (shownAt === 0) performance.mark("first question");
  shownAt = performance.now();
  element("question").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function drawRanking() {
  if (element("tie")) element("tie").hidden = isRanking();
  if (!element("ranking")) return;
  show("ranking", isRanking());
  show("again", isRanking());
  ranking = isRanking() ? new Ranking(question.candidates, titleOf, data.ties, say, hideRanked) : null;
}

// A candidate is on a card, or in the ranking.
function hideRanked() {
  const left = this.left;
  element("again").disabled = left.length === this.candidates.length;
  [...element("cards").children].forEach((shown, number) => {
    shown.hidden = !left.includes(this.candidates[number]);
  });
}

function tellProgress() {
  const counted = me.answers !== null; // in a secret study nobody says how many
  const place = me.answers + 1;
  let text = counted ? fillCount(words.answered, me.answers) : "";
  if (question.of) text = fill(words.counted, question);
  else if (counted && isAsked() && me.left) text = fill(words.about, { place, of: me.answers + me.left });
  element("count").textContent = text;
}

async function lookAgain() {
  try {
    me = await get(`${study}/me`);
    tellProgress();
  } catch {
    // it is looked at again after some more answers
  }
}

// Do something, then show the question that is next; one thing at a time.
async function act(work, kind) {
  if (busy) return;
  busy = true;
  page.setAttribute("aria-busy", "true");
  const next = () => insist(() => call(`${study}/question`));
  try {
    try {
      question = (await work()) || (await next());
      trouble(notice);
      notice = null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 403) me = await insist(() => get(`${study}/me`));
      const sentence = refusal(error, kind);
      if (error.status === 409) question = await next();
      trouble(sentence);
    }
    if (question) await drawWithDetails();
  } catch (error) {
    trouble(error instanceof Refused ? refusal(error) : words.refused.other);
  } finally {
    busy = false;
    page.removeAttribute("aria-busy");
  }
}

// Candidates who came late, and texts that were mended, are read again when a name is new.
async function drawWithDetails() {
  if (isAsked() && question.candidates.some((name) => !(name in details.candidates))) {
    details = detailsOf(await insist(() => get(study)));
  }
  draw();
  tellProgress();
  if (isAsked() && !question.of && me.answers !== null && me.answers % LOOK_AGAIN === 0) lookAgain();
}

// The receipt of an answer that was given before, in another tab or before a page was closed; null if there is none.
async function receiptOf(number) {
  try {
    return await insist(() => get(`${study}/receipts/${number}`));
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

// Send the answer that waits in the outbox, until the server has it or refuses it for good.
async function send() {
  const { number, answer: value } = outbox.get();
  let kept;
  try {
    const path = `${study}/questions/${number}/answer`;
    kept = await insist(() => call(path, { answer: value, next: true }), words.offline);
  } catch (error) {
    if (error.status !== 401) outbox.clear(); // whoever opens their link again can still send it
    kept = error.status === 409 ? await receiptOf(number) : null;
    if (!kept) throw error;
    if (kept.answer) notice = fill(words.repeated, { ranking: written(kept.answer) });
  }
  outbox.clear();
  skipped = false;
  if (kept.repeated) {
    me = await insist(() => get(`${study}/me`));
  } else me = { ...me, answers: me.answers === null ? null : me.answers + 1, last: number, left: me.left && Math.max(1, me.left - 1) };
  said = saidOf(kept.answer);
  if (!kept.answer) notice = said; // so that nobody believes that another answer has taken its place
  element("receipt").textContent = fill(words.receipt, { hash: kept.hash.slice(0, 12) });
  element("receipt").title = fill(words.entry, { entry: kept.entry, hash: kept.hash });
  return kept.next;
}

// What was answered, which in a secret study is not told of an answer that was there before.
function saidOf(ranking) {
  if (!ranking) return words.stays;
  return ranking.length === 1 ? words.no_difference : fill(words.kept, { ranking: written(ranking) });
}

function answer(value) {
  if (busy || !ready()) return;
  outbox.put({ number: question.number, answer: value });
  act(send);
}

// Choose a candidate: that is the answer if there are two, and the next place if there are more.
function choose(number) {
  const name = question?.candidates?.[number];
  if (busy || !name || !ready()) return;
  if (!isRanking()) {
    answer(name);
    return;
  }
  ranking.choose(name);
  const next = ranking.left.length ? question.candidates.indexOf(ranking.left[0]) + 1 : 0;
  element(next ? `choice-${next}` : "send").focus({ preventScroll: Boolean(next) });
}

function sendRanking() {
  if (ranking && ranking.left.length === 0) answer(ranking.groups);
}

function startAgain() {
  if (!busy && ready()) ranking?.empty();
}

function skip(reason) {
  const { number } = question;
  act(async () => {
    await insist(() => call(`${study}/questions/${number}/skip`, { reason }));
    said = words.skipped;
    skipped = true;
  });
}

function undo() {
  if (!me.last || busy) return;
  if (skipped && !confirm(words.undo_before_skip)) return;
  act(async () => {
    skipped = false;
    const again = await insist(() => call(`${study}/undo`, me.last && { number: me.last }));
    me = await insist(() => get(`${study}/me`));
    element("receipt").textContent = "";
    said = words.undone;
    return again;
  }, "undo");
}

function cannotJudge(name) {
  if (!confirm(fill(words.sure, { name: isolated(titleOf(name)) }))) return;
  act(async () => {
    await insist(() => call(`${study}/conflicts`, { candidates: [name] }));
    me = await insist(() => get(`${study}/me`));
    said = fill(words.not_again, { name: isolated(titleOf(name)) });
  });
}

async function report(name, problem) {
  const text = element("wrong-text").value.trim();
  try {
    await insist(() => call(`${study}/reports`, { candidate: name, problem, text }));
    element("receipt").textContent = words.reported;
    say(words.reported);
  } catch (error) {
    trouble(refusal(error));
  }
}

function askWhy() {
  if (!data.skips || busy || !isAsked()) return;
  const conflicts = (data.conflicts ? question.candidates : []).map((name) => {
    const label = fill(words.cannot_judge, { name: isolated(titleOf(name)) });
    return made("button", "button", label, { value: `conflict ${question.candidates.indexOf(name)}` });
  });
  element("why-conflicts").replaceChildren(...conflicts);
  element("why").returnValue = "";
  element("why").showModal();
}

function askWhatIsWrong(name) {
  if (busy) return;
  pointedAt = name;
  element("wrong-title").textContent = titleOf(name);
  element("wrong-text").value = "";
  element("wrong").returnValue = "";
  element("wrong").showModal();
}

async function begin() {
  if (!me) {
    me = await insist(() => get(`${study}/me`));
    outbox = new Outbox(data.study, me.voter);
  }
  await act(async () => (outbox.get() ? send() : data.question));
}

async function join() {
  element("begin").disabled = true;
  try {
    await insist(() => call(`${study}/join`));
    await begin();
  } catch (error) {
    trouble(refusal(error));
    element("begin").disabled = false;
  }
}

const once = (work) => (event) => {
  if (event.detail < 2) work();
};
const on = (id, kind, work) => element(id)?.addEventListener(kind, work);
on("tie", "click", once(() => answer(null)));
on("send", "click", once(sendRanking));
on("again", "click", startAgain);
on("skip", "click", askWhy);
on("undo", "click", once(undo));
on("end-undo", "click", undo);
on("begin", "click", join);
on("why", "close", () => {
  const [kind, number] = element("why").returnValue.split(" ");
  if (kind === "conflict") cannotJudge(question.candidates[Number(number)]);
  else if (kind) skip(element("why").returnValue);
});
on("wrong", "close", () => {
  const kind = element("wrong").returnValue;
  if (kind === "conflict") cannotJudge(pointedAt);
  else if (kind) report(pointedAt, kind);
});
on("wrong-text", "keydown", (event) => {
  if (event.key !== "Enter") return; // which would press the first button
  event.preventDefault();
  element("wrong").close("other");
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, dialog");
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const key = event.key.toLowerCase();
  if (/^[0-9]$/.test(key)) choose(key === "0" ? 9 : Number(key) - 1);
  else if (key === "t" && data.ties && isAsked() && !isRanking()) answer(null);
  else if (key === "r") startAgain();
  else if (key === "s") {
    event.preventDefault();
    askWhy();
  } else if (key === "u" && me) undo();
});

const { Ranking } = element("ranking") ? await import("/static/ranking.js") : {};
if (me) await begin();
else show("join", true);

// The page that creates a study: the grid, who decides, what to expect, and what is wrong, next to where it is.
import { Refused, call, copy, element, fieldError, linkOf, part, show } from "/static/api.js";
import { attempt } from "/static/actions.js";
import { FIELDS, column, draw, fill, grid, merge, mistakes, named, problem, row } from "/static/grid.js";
import { showLinks } from "/static/links.js";
import { upload } from "/static/pictures.js";
import { drawRules } from "/static/rules.js";

const LARGEST_FILE = 500000;
const QUIET = 700; // milliseconds without a change until the server is asked what to expect
let people = []; // the judges as the server has read them
let shown = []; // the fields next to which something is said to be wrong
let goingOn = false; // whether somebody has tried to create the study, and is told what is missing
const NOTHING_YET = element("expected")?.textContent;
let waiting = null;
let estimating = false; // whether the server works on an estimate
let stale = false; // whether something has changed since it was asked for it

const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
const isPanel = () => chosen("who") === "panel";
const number = (id) => (element(id).value.trim() ? Number(element(id).value) : null);

// The key, where one is needed.

const LATER = "This is done as soon as the key at the top of the page is right.";
class Later extends Error {}
const BUSY = 3000; // milliseconds until a server that has just started, or is busy, is asked again
const unread = new Map(); // what could not be read for want of the key: by its place, how to try again
let wrongKey = null;
const keyGiven = () => element("key")?.value || "";
const keyed = () => (keyGiven() ? { headers: { Authorization: `Bearer ${keyGiven()}` } } : {});

// Ask the server; for want of the right key say so at its field, and try again once it is there.
async function ask(path, body, place, again) {
  const key = keyGiven();
  unread.delete(place);
  try {
    return await call(path, body, keyed());
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401) throw error;
    wrongKey = key;
    showMistakes();
    if (!again) throw error;
    unread.set(place, again);
    throw new Later(LATER);
  }
}

// Have a text read, and say that this goes on as long as it does: the server may have been started just now.
async function asRead(path, body, place, status, again) {
  element(status).textContent = "Reading …";
  for (;;) {
    try {
      const found = await ask(path, body, place, again);
      element(status).textContent = "";
      return found;
    } catch (error) {
      const isBusy = error instanceof Refused && error.status === 429;
      element(status).textContent = isBusy ? "Reading … The server is not ready yet. This goes on by itself." : error instanceof Later ? LATER : "";
      if (!isBusy) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY));
    }
  }
}

function keyChanged() {
  if (keyGiven() === wrongKey) return;
  wrongKey = null;
  for (const again of [...unread.values()]) again();
  changed();
}

// What is wrong.

function numberMistakes(found) {
  for (const [id, most] of [["judges-number", isPanel() ? 1000 : 100000], ["questions-each", 10000], ["minutes", 10000]]) {
    const field = element(id);
    const value = number(id);
    const bad = field.validity.badInput || (value !== null && !(Number.isInteger(value) && value >= 1 && value <= most));
    if (bad && (isPanel() || id !== "questions-each")) found.set(id, `A whole number from 1 to ${most.toLocaleString()}.`);
  }
}

function allMistakes() {
  const found = new Map();
  if (element("key") && !keyGiven() && (goingOn || wrongKey === "")) found.set("key", "The key is needed.");
  else if (wrongKey && keyGiven() === wrongKey) found.set("key", "That key is not right.");
  if (goingOn && !element("name").value.trim()) found.set("name", "Give it a name.");
  for (const [id, sentence] of mistakes(goingOn)) found.set(id, sentence);
  numberMistakes(found);
  if (goingOn && isPanel() && !element("judges").value.trim()) found.set("judges", "Name at least one judge; others can be added later.");
  if (isPanel()) {
    const known = new Set(named(grid.candidates).map((candidate) => candidate.name.trim()));
    const stranger = people.flatMap(({ name, conflicts }) => conflicts.filter((who) => !known.has(who)).map((who) => [name, who]))[0];
    if (stranger && known.size) found.set("judges", `${stranger[0]} does not judge “${stranger[1]}”, but there is no candidate of that name.`);
  }
  return found;
}

function showMistakes() {
  const found = allMistakes();
  for (const id of shown) if (!found.has(id) && element(`${id}-error`)) fieldError(id, null);
  for (const [id, sentence] of found) fieldError(id, sentence);
  shown = [...found.keys()];
  return found;
}

// What is wrong with the grid as a whole. What was pasted is wrong until something else is in the grid, and what the
// server says of the problem until it says something else.
const aboutGrid = { pasted: null, problem: null };
let edited = false; // whether the grid has changed since the server looked at it

function gridError(kind, sentence) {
  aboutGrid[kind] = sentence;
  const text = [...new Set([aboutGrid.pasted, aboutGrid.problem])].filter(Boolean).join(" ");
  if (element("grid-error").textContent !== text) element("grid-error").textContent = text;
  show("grid-error", Boolean(text));
}

function gridChanged() {
  edited = true;
  if (!unread.has("grid")) gridError("pasted", null);
  changed();
}

// What to expect.

function study() {
  const size = Number(element("size").value);
  const settings = { ties: element("ties").checked, skips: element("skips").checked, secret: element("secret").checked };
  if (isPanel()) {
    Object.assign(settings, { algorithm: "panel", parameters: { criterion: chosen("criterion"), question_size: size, walking: element("walking").checked, until: chosen("until") } });
    if (number("questions-each")) settings.questions_each = number("questions-each");
  } else {
    Object.assign(settings, { algorithm: chosen("criterion"), delta: Number(chosen("delta")), parameters: { question_size: size, walking: element("walking").checked } });
  }
  const voters = isPanel() ? people.map(({ name, weight, conflicts }) => ({ name, weight, conflicts })) : [];
  return { name: element("name").value.trim(), problem: problem(), settings, voters };
}

// Ask the server whether the problem holds together, and how many answers it takes; one question at a time.
async function expect() {
  if (estimating) {
    stale = true;
    return;
  }
  const complete = named(grid.candidates).length > 1 && named(grid.positions).length > 0;
  if (!complete || allMistakes().size) {
    if (edited) gridError("problem", null);
    element("expected").textContent = complete ? "Fix what is marked above first." : NOTHING_YET;
    return;
  }
  if (element("key") && !keyGiven()) {
    element("expected").textContent = LATER;
    return;
  }
  edited = stale = false;
  estimating = true;
  element("expected").textContent = "Working it out …";
  const judges = Math.max(people.length, number("judges-number") || 0) || 1;
  const voters = [...study().voters, ...Array.from({ length: isPanel() ? judges - people.length : 0 }, () => ({}))];
  try {
    const planned = { judges: isPanel() ? null : number("judges-number") || null, minutes: number("minutes") || null };
    const { sentences } = await ask("/estimate", { ...study(), ...planned, voters, name: "Trial" }, "expected", expect);
    if (stale) return;
    gridError("problem", null);
    element("expected").textContent = sentences.join(" ");
  } catch (error) {
    if (stale) return;
    if (error instanceof Refused && error.status === 429) waiting = setTimeout(expect, BUSY);
    else if (error instanceof Refused && error.status === 422) {
      gridError("problem", error.message);
      element("expected").textContent = "Fix what is marked above first.";
    } else element("expected").textContent = error.message;
  } finally {
    estimating = false;
    if (stale) {
      clearTimeout(waiting);
      waiting = setTimeout(expect, QUIET); // somebody may still be typing
    }
  }
}

function changed() {
  showMistakes();
  clearTimeout(waiting);
  waiting = setTimeout(expect, QUIET);
}

// The grid.

const redraw = (focus) => {
  draw({ changed: gridChanged, more }, focus);
  drawRules(gridChanged);
  showMistakes();
};

function setPicture(entry, address) {
  if (address) entry.about.picture = address;
  else delete entry.about.picture;
}

// A dialog for what has no room in the grid.
function more(kind, entry) {
  element("more-title").textContent = entry.name.trim() || `This ${kind}`;
  const opener = document.activeElement.getAttribute("aria-label");
  const fields = Object.entries(FIELDS[kind]).map(([detail, { label, lines, most, hint, check }]) => {
    const [id, errorId] = [`more-${detail}`, `more-${detail}-error`];
    const input = part(lines ? "textarea" : "input", { id, value: entry.about[detail] ?? "", placeholder: hint || "", className: "prose", "aria-describedby": errorId });
    if (most) input.maxLength = most;
    const checked = () => fieldError(input.id, input.value.trim() && check ? check(input.value.trim()) : null);
    input.addEventListener("input", () => {
      entry.about[detail] = input.value;
      checked();
    });
    const error = part("p", { id: errorId, className: "error", hidden: true, role: "alert" });
    const block = part("div", {}, part("label", { className: "field" }, label, input), error);
    if (detail === "picture") block.append(...pictureTools(entry, input));
    return block;
  });
  element("more-fields").replaceChildren(...fields);
  element("more").addEventListener(
    "close",
    () => {
      redraw(`[aria-label="${opener}"]`);
      gridChanged();
    },
    { once: true },
  );
  element("more").showModal();
}

// A picture that was uploaded is shown, and not its address; it can be replaced or taken away.
function pictureTools(entry, address) {
  const image = part("img", { className: "thumb", alt: `The picture of ${entry.name.trim() || "this candidate"}` });
  const label = part("label", { className: "button small file-button", textContent: "Choose a picture" });
  const input = part("input", { type: "file", accept: element("pictures").accept, id: "more-file" });
  const away = part("button", { type: "button", className: "button small quiet", textContent: "Take the picture away" });
  const drawPicture = () => {
    const picture = entry.about.picture || "";
    const uploaded = picture.startsWith("/pictures/");
    address.value = uploaded ? "" : picture;
    image.hidden = away.hidden = !uploaded;
    if (uploaded) image.src = picture;
  };
  label.append(input);
  away.addEventListener("click", () => {
    setPicture(entry, null);
    drawPicture();
  });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    try {
      fieldError("more-picture", null);
      setPicture(entry, await upload("/pictures", file, keyed().headers));
      drawPicture();
    } catch (error) {
      fieldError("more-picture", error.message);
    }
    input.value = "";
  });
  drawPicture();
  return [image, label, away];
}

// Many pictures at once: each file is called like its candidate, or as a spreadsheet named it.
async function addPictures(files) {
  const wrong = [];
  const plain = (text) => text.trim().toLowerCase().replaceAll(/[\s_-]+/g, " ");
  for (const file of files) {
    const stem = plain(file.name.replace(/\.[^.]*$/, ""));
    const owner =
      grid.candidates.find(({ about }) => about.picture === file.name) ||
      named(grid.candidates).find(({ name, about }) => [name, about.title || name].some((text) => plain(text) === stem));
    if (!owner) wrong.push(`${file.name}: no candidate is called like this file.`);
    else {
      try {
        setPicture(owner, await upload("/pictures", file, keyed().headers));
      } catch (error) {
        wrong.push(error.message);
      }
    }
  }
  redraw();
  gridChanged();
  fieldError("pictures", wrong.join(" ") || null);
}

const positionOf = (target) => [...element("grid").querySelectorAll("thead .name")].indexOf(target);

async function pasted(event) {
  const text = event.clipboardData.getData("text/plain");
  const target = event.target;
  const isText = target.tagName === "TEXTAREA";
  if (!/[\t\n]/.test(text.trim()) || (isText && !text.includes("\t"))) return; // an ordinary paste into one cell
  event.preventDefault();
  const at = positionOf(target);
  await put(text, at, at < 0 ? target.closest("tr").rowIndex - 1 : 0, `#${target.id}`);
}

// Put what was pasted into the grid: names of positions from one on, or candidates from a row on.
async function put(text, at, line, focus) {
  try {
    const again = () => put(text, at, line);
    gridError("pasted", null);
    const { problem: found, mistakes: wrong } = await asRead("/problems/read", { text, layout: at < 0 ? null : "names", partly: true }, "grid", "grid-status", again);
    if (at < 0) takeIn(found, wrong, line);
    else
      found.candidates.forEach((name, shift) => {
        if (!grid.positions[at + shift]) grid.positions.push(column());
        grid.positions[at + shift].name = name;
      });
    redraw(focus);
    gridChanged();
    gridError("pasted", wrong.join(" ") || null);
  } catch (error) {
    if (!(error instanceof Later)) gridError("pasted", error.message);
  }
}

// A table with mistakes fills an empty grid as it is, two rows of the same name too, so that it can be mended there.
function takeIn(found, wrong, line) {
  const isEmpty = !named(grid.candidates).length && !named(grid.positions).length;
  if (found.positions.length && wrong.length && isEmpty) fill(found);
  else merge(found, line);
}

// Put a file, or what was pasted as one, into the grid; say next to its field if it cannot be read.
async function read(text, name, field) {
  try {
    const layout = (name.match(/\.(yaml|yml|json)$/i)?.[1] || "").toLowerCase().replace("yml", "yaml") || null;
    gridError("pasted", null);
    const { problem: found, mistakes: wrong } = await asRead("/problems/read", { text, layout, partly: true }, field || "grid", "grid-status", () => read(text, name, field));
    if (found.positions.length) fill(found);
    else merge(found, 0);
    fieldError("paste", null);
    redraw();
    gridChanged();
    gridError("pasted", wrong.join(" ") || null);
  } catch (error) {
    if (error instanceof Later) return;
    if (field) fieldError(field, error.message);
    else gridError("pasted", error.message);
  }
}

// The judges.

let reading = null;
function readJudges() {
  clearTimeout(reading);
  reading = setTimeout(readJudgesNow, 300);
}

async function readJudgesNow() {
  clearTimeout(reading);
  const text = element("judges").value;
  try {
    const found = text.trim() ? await asRead("/judges/read", { text }, "judges", "judges-read", readJudgesNow) : [];
    if (element("judges").value !== text) return false; // somebody has gone on typing, and that is read next
    people = found;
    fieldError("judges", null);
    const special = people.filter(({ weight, conflicts }) => weight > 1 || conflicts.length);
    const about = ({ name, weight, conflicts }) =>
      `${name} ${[weight > 1 && `counts ${weight === 2 ? "twice" : `${weight} times`}`, conflicts.length && `does not judge ${conflicts.join(", ")}`].filter(Boolean).join(" and ")}.`;
    element("judges-read").textContent = people.length ? `${people.length} ${people.length === 1 ? "judge" : "judges"}. ${special.map(about).join(" ")}` : "";
    if (people.length) element("judges-number").value = people.length;
    changed();
    return true;
  } catch (error) {
    people = [];
    fieldError("judges", error instanceof Later ? null : error.message);
    return false;
  }
}

function showWho() {
  show("judges-part", isPanel());
  show("delta-part", !isPanel());
  show("until-part", isPanel());
  element("number-label").textContent = isPanel() ? "How many judges will there be?" : "How many people will vote?";
  changed();
}

// Going on.

async function create() {
  goingOn = true;
  const readable = !isPanel() || (await readJudgesNow());
  const [first] = showMistakes().keys();
  if (first) element(first).focus();
  else if (!readable) element("judges").focus();
  else
    await attempt(async () => {
      const made = await ask("/studies", study());
      const own = `/l/${made.organiser_token}`;
      await fetch(own); // from now on this browser is the organiser's, and may print the links
      element("organiser-link").value = linkOf(made.organiser_token);
      element("go").href = own;
      showLinks(made.study, made.voters, Object.fromEntries(people.map(({ name, others }) => [name, others])));
      show("new", false);
      show("done", true);
      element("page-title").textContent = element("name").value.trim();
      element("done-title").focus();
    });
}

if (element("new")) {
  grid.positions = [column(), column()];
  grid.candidates = [row(), row(), row()];
  redraw();
  element("add-candidate").addEventListener("click", () => {
    grid.candidates.push(row());
    redraw(`#candidate-${grid.candidates.length}`);
  });
  element("add-position").addEventListener("click", () => {
    grid.positions.push(column());
    redraw(`#position-${grid.positions.length}`);
  });
  element("add-rule").addEventListener("click", () => {
    grid.rules.push({ kind: "at_most", number: 1, of: [] });
    drawRules(gridChanged, `#rule-${grid.rules.length}-kind`);
  });
  element("rules-part").addEventListener("toggle", () => drawRules(gridChanged));
  element("copy").addEventListener("click", () => copy(element("organiser-link"), element("copy")));
  element("grid").addEventListener("paste", pasted);
  element("grid").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault(); // it would create the study: go down instead, and add a candidate below the last
    const { cellIndex, parentElement: line } = event.target.closest("td, th");
    const below = line.parentElement.tagName === "THEAD" ? element("grid").querySelector("tbody tr") : line.nextElementSibling;
    if (below) below.cells[line.parentElement.tagName === "THEAD" ? 0 : cellIndex].querySelector("input, textarea").focus();
    else element("add-candidate").click();
  });
  for (const choice of document.querySelectorAll("input[name=who]")) choice.addEventListener("change", showWho);
  for (const field of document.querySelectorAll("#new fieldset input[type=radio], #size, #ties, #skips")) field.addEventListener("change", changed);
  for (const id of ["name", "judges-number", "questions-each", "minutes"]) element(id).addEventListener("input", changed);
  element("key")?.addEventListener("input", showMistakes);
  element("key")?.addEventListener("change", keyChanged);
  element("judges").addEventListener("input", readJudges);
  element("paste").addEventListener("input", () => fieldError("paste", null));
  element("read").addEventListener("click", () => read(element("paste").value, "", "paste"));
  element("pictures").addEventListener("change", async (event) => {
    await addPictures([...event.target.files]);
    event.target.value = "";
  });
  element("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    if (file.size > LARGEST_FILE) gridError("pasted", `The file is too large: ${LARGEST_FILE.toLocaleString()} bytes are allowed.`);
    else await read(await file.text(), file.name, null);
    event.target.value = "";
  });
  element("new").addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter;
    if (button) button.disabled = true;
    await create();
    if (button) button.disabled = false;
  });
  showWho();
}

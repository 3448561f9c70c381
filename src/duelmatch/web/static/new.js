// The page that creates a study: a grid of candidates and positions, filled by hand or from a file.
import { call, copy, element, show, trouble } from "/static/api.js";
import { attempt } from "/static/actions.js";

const LARGEST_FILE = 500000;
// The grid: candidates are rows, positions are columns, and allowed says who can fill what.
let candidates = [];
let positions = [];
// What a file says besides: rules go back to the server as they came.
let rules = [];

const row = (name = "") => ({ name, about: {}, allowed: new Map() });
const column = (name = "") => ({ name, about: {} });
const isAllowed = (candidate, position) => candidate.allowed.get(position) !== false;

function field(kind, label, value, change) {
  const input = document.createElement("input");
  input.className = kind;
  input.value = value;
  input.setAttribute("aria-label", label);
  input.addEventListener("input", () => change(input.value));
  return input;
}

function remove(label, work) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small quiet";
  button.textContent = "×";
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => {
    work();
    draw("tbody tr:last-child input, thead input");
  });
  return button;
}

function cell(tag, ...content) {
  const part = document.createElement(tag);
  part.append(...content);
  return part;
}

function draw(focus) {
  const grid = element("grid");
  const head = document.createElement("tr");
  head.append(cell("th", "Candidate"));
  positions.forEach((position, number) => {
    const name = field("name", `Position ${number + 1}`, position.name, (value) => (position.name = value));
    name.placeholder = `Position ${number + 1}`;
    name.maxLength = 200;
    head.append(cell("th", name, remove(`Remove position ${number + 1}`, () => positions.splice(number, 1))));
  });
  head.append(cell("th", "What voters should know"), cell("th"));
  const rows = candidates.map((candidate, number) => {
    const line = document.createElement("tr");
    const name = field("name", `Candidate ${number + 1}`, candidate.name, (value) => (candidate.name = value));
    name.placeholder = `Candidate ${number + 1}`;
    name.maxLength = 200;
    line.append(cell("td", name));
    positions.forEach((position, at) => {
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = isAllowed(candidate, position);
      const label = () => {
        const [who, where] = [candidate.name.trim() || `Candidate ${number + 1}`, position.name.trim() || `position ${at + 1}`];
        box.setAttribute("aria-label", `${who} can fill ${where}`);
      };
      label();
      box.addEventListener("focus", label);
      box.addEventListener("change", () => candidate.allowed.set(position, box.checked));
      line.append(cell("td", box));
    });
    const text = field("text", `About candidate ${number + 1}`, candidate.about.text || "", (value) => (candidate.about.text = value));
    line.append(cell("td", text), cell("td", remove(`Remove candidate ${number + 1}`, () => candidates.splice(number, 1))));
    return line;
  });
  grid.replaceChildren(cell("thead", head), cell("tbody", ...rows));
  if (focus) grid.querySelector(focus)?.focus();
}

const withDetails = ({ name, about }) => {
  const kept = Object.fromEntries(Object.entries(about).filter(([, value]) => value && String(value).trim()));
  return Object.keys(kept).length ? { name: name.trim(), ...kept } : name.trim();
};

function problem() {
  const people = candidates.filter((c) => c.name.trim());
  const places = positions.filter((p) => p.name.trim());
  const tree = { candidates: people.map(withDetails), positions: places.map(withDetails) };
  if (people.some((c) => places.some((p) => !isAllowed(c, p)))) {
    tree.edges = Object.fromEntries(
      places.map((p) => [p.name.trim(), people.filter((c) => isAllowed(c, p)).map((c) => c.name.trim())]),
    );
  }
  if (rules.length) tree.rules = rules;
  return tree;
}

function fill(tree, conditions = []) {
  rules = tree.rules || [];
  element("conditions").replaceChildren(...conditions.map((sentence) => cell("li", sentence)));
  show("conditions", conditions.length > 0);
  const read = (entry, make) => {
    const { name, ...about } = typeof entry === "string" ? { name: entry } : entry;
    return Object.assign(make(name), { about });
  };
  positions = tree.positions.map((entry) => read(entry, column));
  candidates = tree.candidates.map((entry) => read(entry, row));
  if (tree.edges) {
    for (const position of positions) {
      const able = new Set(tree.edges[position.name]);
      for (const candidate of candidates) candidate.allowed.set(position, able.has(candidate.name));
    }
  }
  draw();
}

// Names, one on a line, below "candidates:" and "positions:"; null if the text is something else.
function fromLists(text) {
  const lists = { candidates: [], positions: [] };
  let current = null;
  for (const line of text.split("\n").map((part) => part.trim())) {
    const heading = line.toLowerCase().match(/^(candidates|positions):$/);
    if (heading) current = lists[heading[1]];
    else if (line && (!current || /^[-{[]/.test(line) || /:(\s|$)/.test(line))) return null;
    else if (line) current.push(line);
  }
  return lists.candidates.length && lists.positions.length ? lists : null;
}

function layoutOf(text, name = "") {
  if (/\.csv$/i.test(name) || /^\s*candidate\s*,\s*position/i.test(text)) return "csv";
  return /^\s*\{/.test(text) ? "json" : "yaml";
}

const keyed = () => {
  const key = element("key");
  return key && key.value ? { headers: { Authorization: `Bearer ${key.value}` } } : {};
};

const read = (text, name) =>
  attempt(async () => {
    const lists = fromLists(text);
    if (lists) return fill(lists);
    const found = await call("/problems/read", { text, layout: layoutOf(text, name) }, keyed());
    fill(found.problem, found.conditions);
  });

const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
const isPanel = () => chosen("who") === "panel";
const judges = () => [...new Set(element("judges").value.split("\n").map((name) => name.trim()).filter(Boolean))];

function study() {
  const size = Number(element("size").value);
  const settings = { ties: element("ties").checked, skips: element("skips").checked };
  if (isPanel()) {
    Object.assign(settings, { algorithm: "panel", parameters: { criterion: chosen("criterion"), question_size: size, until: element("until").value } });
  } else {
    Object.assign(settings, { algorithm: chosen("criterion"), delta: Number(chosen("delta")), parameters: { question_size: size } });
  }
  const voters = isPanel() ? judges().map((name) => ({ name })) : [];
  return { name: element("name").value.trim(), problem: problem(), settings, voters };
}

function showWho() {
  show("judges-part", isPanel());
  show("delta-part", !isPanel());
  show("until-part", isPanel());
}

// The links of the voters, each with a button that copies it.
function showInvited(voters) {
  const rows = voters.map(({ name, token }) => {
    const link = field("copy", `The link of ${name}`, `${location.origin}/l/${token}`, () => {});
    link.readOnly = true;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button small", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy the link of ${name}`);
    button.addEventListener("click", () => copy(link, button));
    const line = document.createElement("tr");
    line.append(cell("th", name), cell("td", link), cell("td", button));
    return line;
  });
  element("invited-rows").replaceChildren(...rows);
  show("invited", rows.length > 0);
}

if (element("new")) {
  positions = [column(), column()];
  candidates = [row(), row(), row()];
  draw();
  element("add-candidate").addEventListener("click", () => {
    candidates.push(row());
    draw("tbody tr:last-child input");
  });
  element("add-position").addEventListener("click", () => {
    positions.push(column());
    draw(`thead th:nth-child(${positions.length + 1}) input`);
  });
  element("copy").addEventListener("click", () => copy(element("organiser-link"), element("copy")));
  element("grid").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault(); // it would begin the study: go down instead, and add a candidate below the last
    const { cellIndex, parentElement: line } = event.target.closest("td, th");
    const below = line.parentElement.tagName === "THEAD" ? element("grid").querySelector("tbody tr") : line.nextElementSibling;
    if (below) below.cells[line.parentElement.tagName === "THEAD" ? 0 : cellIndex].querySelector("input").focus();
    else element("add-candidate").click();
  });
  for (const choice of document.querySelectorAll("input[name=who]")) choice.addEventListener("change", showWho);
  element("read").addEventListener("click", () => read(element("paste").value));
  element("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    if (file.size > LARGEST_FILE) trouble(`The file is too large: ${LARGEST_FILE.toLocaleString()} bytes are allowed.`);
    else await read(await file.text(), file.name);
    event.target.value = "";
  });
  element("estimate").addEventListener("click", () =>
    attempt(async () => {
      element("expected").textContent = "Trying it out …";
      try {
        const { sentences } = await call("/estimate", { ...study(), name: "Trial" }, keyed());
        element("expected").textContent = sentences.join(" ");
      } catch (error) {
        element("expected").textContent = "";
        throw error;
      }
    }),
  );
  element("new").addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter;
    if (button) button.disabled = true;
    attempt(async () => {
      const made = await call("/studies", study(), keyed());
      const link = `${location.origin}/l/${made.organiser_token}`;
      element("organiser-link").value = link;
      element("go").href = link;
      showInvited(made.voters);
      show("new", false);
      show("done", true);
      element("done-title").focus();
    }).finally(() => {
      if (button) button.disabled = false;
    });
  });
}

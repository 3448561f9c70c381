// The grid of a new study: candidates are rows, positions are columns, and allowed says who can fill what.
import { element, part } from "/static/api.js";

export const grid = { candidates: [], positions: [], rules: [] };
export const row = (name = "") => ({ name, about: {}, allowed: new Map() });
export const column = (name = "") => ({ name, about: {} });
export const isAllowed = (candidate, position) => candidate.allowed.get(position) !== false;
export const named = (entries) => entries.filter((entry) => entry.name.trim());

// What a picture, a link or a number must be like; null if it is fine.
const WHOLE = (value, what) => (/^[1-9][0-9]{0,3}$/.test(value) ? null : `${what} is a whole number from 1 on.`);
export const FIELDS = {
  candidate: {
    title: { label: "Title, which voters read instead of the name", most: 200 },
    text: { label: "What voters should know", lines: true, most: 5000 },
    place: { label: "Place, such as “table 12”", most: 200 },
    link: {
      label: "Link to a page about it",
      most: 2000,
      hint: "https://",
      check: (value) => (/^https?:\/\/[^\s/]/i.test(value) ? null : "A link begins with https:// or http://."),
    },
    picture: {
      label: "Address of a picture, if you do not choose a file",
      most: 2000,
      hint: "https://",
      check: (value) =>
        /^(https:\/\/[^\s/]|\/pictures\/[0-9a-f]{64}$)/i.test(value)
          ? null
          : `The picture “${value}” is not shown: choose the file with “Add pictures” or under “More”, or give an address that begins with https://.`,
    },
    capacity: { label: "How many positions it may fill", hint: "1", check: (value) => WHOLE(value, "How many positions it may fill") },
  },
  position: {
    title: { label: "Title, which voters read instead of the name", most: 200 },
    text: { label: "What voters should know", lines: true, most: 5000 },
    seats: { label: "Seats: how many different candidates fill it", hint: "1", check: (value) => WHOLE(value, "The number of seats") },
    weight: {
      label: "How much it counts, compared with others",
      hint: "1",
      check: (value) => (Number(value) > 0 && Number(value) < 1e6 ? null : "What it counts is a number above 0."),
    },
  },
};
const NUMBERS = ["capacity", "seats", "weight"];

// A place for what is wrong, next to the field that it is about.
function withError(input, id) {
  input.id = id;
  input.setAttribute("aria-describedby", `${id}-error`);
  return [input, part("span", { className: "error", id: `${id}-error`, hidden: true, role: "alert" })];
}

function button(label, text, work, kind = "quiet") {
  const made = part("button", { type: "button", className: `button small ${kind}`, textContent: text, "aria-label": label });
  made.addEventListener("click", work);
  return made;
}

// What there is of an entry that its row does not show.
function tags({ about }) {
  const words = [
    about.title && `“${about.title}”`,
    about.link && "link",
    Number(about.capacity) > 1 && `up to ${about.capacity} positions`,
    Number(about.seats) > 1 && `${about.seats} seats`,
    about.weight && Number(about.weight) !== 1 && `counts ${about.weight}`,
  ];
  return words.filter(Boolean).join(", ");
}

// Draw the grid again; changed is called whenever somebody has changed something, more to open an entry's details.
export function draw({ changed, more }, focus) {
  const called = (entry, kind, number) => entry.name.trim() || `${kind} ${number + 1}`;
  const nameOf = (entry, kind, number) => {
    const label = `${kind} ${number + 1}`;
    const input = part("input", { className: "name", value: entry.name, maxLength: 200, placeholder: label, autocomplete: "off", "aria-label": label });
    input.addEventListener("input", () => {
      entry.name = input.value;
      changed();
    });
    return withError(input, `${kind.toLowerCase()}-${number + 1}`);
  };
  const remove = (entries, number, kind) =>
    button(`Remove ${kind.toLowerCase()} ${number + 1}`, "×", () => {
      const [gone] = entries.splice(number, 1);
      for (const rule of grid.rules) rule.of = rule.of.filter((item) => item.candidate !== gone && item.position !== gone);
      draw({ changed, more }, `#${kind.toLowerCase()}-${Math.min(number + 1, entries.length)}, #add-${kind.toLowerCase()}`);
      changed();
    });
  const head = part("tr", {}, part("th", { scope: "col" }, "Candidate"));
  grid.positions.forEach((position, number) => {
    const open = button(`More about position ${number + 1}`, "More", () => more("position", position), "");
    const words = tags(position);
    head.append(
      part("th", { scope: "col" }, ...nameOf(position, "Position", number), part("span", { className: "tags" }, words), part("span", { className: "tools" }, open, remove(grid.positions, number, "Position"))),
    );
  });
  head.append(part("th", { scope: "col" }, "Place"), part("th", { scope: "col" }, "What voters should know"), part("th", { scope: "col" }, part("span", { className: "visually-hidden" }, "More")));
  const rows = grid.candidates.map((candidate, number) => {
    const line = part("tr");
    const first = part("td", {}, ...nameOf(candidate, "Candidate", number), part("span", { className: "tags" }, tags(candidate)));
    if (candidate.about.picture && !FIELDS.candidate.picture.check(candidate.about.picture))
      first.append(part("img", { className: "thumb", alt: `The picture of ${called(candidate, "candidate", number)}`, src: candidate.about.picture }));
    line.append(first);
    grid.positions.forEach((position, at) => {
      const box = part("input", { type: "checkbox", checked: isAllowed(candidate, position) });
      const label = () => box.setAttribute("aria-label", `${called(candidate, "Candidate", number)} can fill ${called(position, "position", at)}`);
      label();
      box.addEventListener("focus", label);
      box.addEventListener("change", () => {
        candidate.allowed.set(position, box.checked);
        changed();
      });
      line.append(part("td", {}, box));
    });
    for (const [detail, label] of [["place", "Place of"], ["text", "About"]]) {
      const about = { className: `${detail} prose`, value: candidate.about[detail] || "", maxLength: FIELDS.candidate[detail].most };
      const field = part(detail === "text" ? "textarea" : "input", { ...about, "aria-label": `${label} candidate ${number + 1}` });
      if (detail === "text") field.rows = 1;
      field.addEventListener("input", () => {
        candidate.about[detail] = field.value;
        changed();
      });
      line.append(part("td", {}, field));
    }
    const open = button(`More about candidate ${number + 1}`, "More", () => more("candidate", candidate), "");
    line.append(part("td", {}, part("span", { className: "tools" }, open, remove(grid.candidates, number, "Candidate"))));
    return line;
  });
  element("grid").querySelectorAll("thead, tbody").forEach((old) => old.remove());
  element("grid").append(part("thead", {}, head), part("tbody", {}, ...rows));
  if (focus) document.querySelector(focus)?.focus();
}

// What is wrong with the grid: the id of each field, and a sentence. What is only missing is told when somebody wants to go on.
export function mistakes(goingOn) {
  const found = new Map();
  for (const [kind, entries] of [["candidate", grid.candidates], ["position", grid.positions]]) {
    const seen = new Map();
    entries.forEach((entry, number) => {
      const [id, name] = [`${kind}-${number + 1}`, entry.name.trim()];
      const details = Object.entries(FIELDS[kind]).map(([detail, { check }]) => {
        const value = String(entry.about[detail] ?? "").trim();
        return value && check ? check(value) : null;
      });
      const wrong = details.find(Boolean);
      if (wrong) found.set(id, wrong);
      else if (name && seen.has(name)) found.set(id, `Number ${seen.get(name)} is called “${name}”, too.`);
      else if (!name && Object.values(entry.about).some((value) => String(value ?? "").trim())) found.set(id, "The name is missing.");
      else if (name) seen.set(name, number + 1);
    });
    if (goingOn && !named(entries).length && entries.length) found.set(`${kind}-1`, `Name at least ${kind === "candidate" ? "two candidates" : "one position"}.`);
  }
  if (goingOn && named(grid.candidates).length === 1) {
    const blank = grid.candidates.findIndex((candidate) => !candidate.name.trim());
    found.set(`candidate-${blank < 0 ? 1 : blank + 1}`, "Name at least two candidates.");
  }
  grid.positions.forEach((position, number) => {
    if (position.name.trim() && named(grid.candidates).length && !named(grid.candidates).some((candidate) => isAllowed(candidate, position)))
      found.set(`position-${number + 1}`, `Nobody can fill “${position.name.trim()}”: tick at least one candidate.`);
  });
  return found;
}

const cleaned = ({ name, about }) => {
  const kept = Object.entries(about)
    .map(([key, value]) => [key, String(value ?? "").trim()])
    .filter(([, value]) => value)
    .map(([key, value]) => [key, NUMBERS.includes(key) ? Number(value) : value]);
  return kept.length ? { name: name.trim(), ...Object.fromEntries(kept) } : name.trim();
};

const item = ({ candidate, position }) => (position ? [candidate.name.trim(), position.name.trim()] : candidate.name.trim());

// The problem as the API takes it.
export function problem() {
  const [people, places] = [named(grid.candidates), named(grid.positions)];
  const tree = { candidates: people.map(cleaned), positions: places.map(cleaned) };
  if (people.some((c) => places.some((p) => !isAllowed(c, p)))) {
    tree.edges = Object.fromEntries(
      places.map((p) => [p.name.trim(), people.filter((c) => isAllowed(c, p)).map((c) => c.name.trim())]),
    );
  }
  const rules = grid.rules.filter((rule) => rule.of.length);
  if (rules.length)
    tree.rules = rules.map(({ kind, number, of }) => (kind === "together" ? { together: of.map(item) } : { of: of.map(item), [kind]: Number(number) }));
  return tree;
}

const read = (entry, make) => {
  const { name, ...about } = typeof entry === "string" ? { name: entry } : entry;
  return Object.assign(make(name), { about });
};

// Put a problem of the API into the grid, in the place of all that is there.
export function fill(tree) {
  grid.positions = tree.positions.map((entry) => read(entry, column));
  grid.candidates = tree.candidates.map((entry) => read(entry, row));
  if (tree.edges) {
    for (const position of grid.positions) {
      const able = new Set(tree.edges[position.name]);
      for (const candidate of grid.candidates) candidate.allowed.set(position, able.has(candidate.name));
    }
  }
  const find = (entries, name) => entries.find((entry) => entry.name === name);
  const itemOf = (given) =>
    typeof given === "string" ? { candidate: find(grid.candidates, given) } : { candidate: find(grid.candidates, given[0]), position: find(grid.positions, given[1]) };
  grid.rules = (tree.rules || []).flatMap((rule) => {
    if (rule.together) return [{ kind: "together", number: 1, of: rule.together.map(itemOf) }];
    return ["at_least", "at_most"].filter((kind) => kind in rule).map((kind) => ({ kind, number: rule[kind], of: rule.of.map(itemOf) }));
  });
}

// Put a piece of a spreadsheet into the grid: names fill the rows from one on, a table finds its rows and columns by their names.
export function merge(tree, from) {
  const place = (entries, make, entry) => {
    const { name, about } = read(entry, make);
    const target = entries.find((other) => other.name.trim() === name) || entries.find((other) => !other.name.trim()) || entries[entries.push(make()) - 1];
    target.name = name;
    Object.assign(target.about, about);
    return target;
  };
  const columns = tree.positions.map((entry) => place(grid.positions, column, entry));
  if (!columns.length && tree.candidates.every((entry) => typeof entry === "string")) {
    tree.candidates.forEach((name, number) => {
      if (!grid.candidates[from + number]) grid.candidates.push(row());
      grid.candidates[from + number].name = name;
    });
    return;
  }
  for (const entry of tree.candidates) {
    const target = place(grid.candidates, row, entry);
    if (tree.edges) for (const position of columns) target.allowed.set(position, (tree.edges[position.name] || []).includes(target.name));
  }
}

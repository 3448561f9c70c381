// What a voter sees of a candidate, and the sentences of the page with what is filled in.
import { element, part } from "/static/api.js";

export const words = JSON.parse(element("words").textContent);
const plural = new Intl.PluralRules(document.documentElement.lang);
const numbers = new Intl.NumberFormat(document.documentElement.lang);

const shown = (value) => (typeof value === "number" ? numbers.format(value) : value);
export const fill = (text, values = {}) => text.replace(/%\((\w+)\)s/g, (_, key) => shown(values[key]));

// A sentence for a number: the form of a sample whose plural is formed alike.
export function fillCount(forms, num) {
  const alike = Object.keys(forms).find((sample) => plural.select(Number(sample)) === plural.select(num));
  return fill(forms[alike ?? 100], { num });
}

// A name within a sentence, which may be written in the other direction.
export const isolated = (name) => `\u2068${name}\u2069`;

export const made = (tag, kind, text = "", properties = {}) => part(tag, { className: kind, ...properties }, text);

function isWebAddress(address, ...protocols) {
  try {
    return protocols.includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

// A card to choose a candidate by, with where to find it, more about it, and a way to say what is wrong with it.
export function card(title, about, number, choose, wrong) {
  const article = made("article", "card");
  const button = made("button", "choose", "", { type: "button", id: `choice-${number}` });
  button.setAttribute("aria-keyshortcuts", String(number % 10));
  if (about.picture && (about.picture.startsWith("/pictures/") || isWebAddress(about.picture, "https:"))) {
    button.append(made("img", "", "", { src: about.picture, alt: "" }));
  }
  button.append(made("span", "title", title, { dir: "auto" }));
  if (about.place) button.append(made("span", "place", about.place, { dir: "auto" }));
  if (about.text) button.append(made("span", "text", about.text, { dir: "auto" }));
  button.append(made("kbd", "", String(number % 10), { "aria-hidden": "true" }));
  button.addEventListener("click", (event) => {
    if (event.detail < 2) choose();
  });
  const beside = made("p", "beside small");
  if (about.link && isWebAddress(about.link, "https:", "http:")) {
    const name = fill(words.more_of, { name: isolated(title) });
    const where = { href: about.link, target: "_blank", rel: "noopener noreferrer", "aria-label": name };
    beside.append(made("a", "more", words.more, where));
  }
  const label = fill(words.wrong_with, { name: isolated(title) });
  const trouble = made("button", "link-like", words.wrong, { type: "button", "aria-label": label });
  trouble.addEventListener("click", wrong);
  beside.append(trouble);
  article.append(button, beside);
  return article;
}

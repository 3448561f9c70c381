// Links that were just made: a table to copy from, a sheet to print and a list to mail from.
import { copy, element, linkOf, show } from "/static/api.js";

const cell = (tag, ...content) => {
  const part = document.createElement(tag);
  part.append(...content);
  return part;
};

// voters: {name, token} of each; others: what else a list says of them, by name.
export function showLinks(study, voters, others = {}) {
  const rows = voters.map(({ name, token }) => {
    const who = name || "a voter without a name";
    const link = document.createElement("input");
    Object.assign(link, { className: "copy", readOnly: true, value: linkOf(token) });
    link.setAttribute("aria-label", `The link of ${who}`);
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button small", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy the link of ${who}`);
    button.addEventListener("click", () => copy(link, button));
    const heading = cell("th", who);
    heading.scope = "row";
    return cell("tr", heading, cell("td", link), cell("td", button));
  });
  element("made-rows").replaceChildren(...rows);
  element("made-list").value = JSON.stringify(voters.map(({ name, token }) => ({ token, others: others[name] || {} })));
  element("print-sheet").formAction = `/studies/${study}/sheet`;
  element("mailing-list").formAction = `/studies/${study}/links.csv`;
  show("made", rows.length > 0);
}

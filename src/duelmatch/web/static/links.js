// Links that were just made: a table to copy from, a sheet to print and a list to mail from.
import { copy, element, linkOf, part, show } from "/static/api.js";

// voters: {name, token} of each; others: what else a list says of them, by name.
export function showLinks(study, voters, others = {}) {
  const rows = voters.map(({ name, token }) => {
    const who = name || "a voter without a name";
    const link = part("input", { className: "copy", readOnly: true, value: linkOf(token), "aria-label": `The link of ${who}` });
    const button = part("button", { type: "button", className: "button small", "aria-label": `Copy the link of ${who}` }, "Copy");
    button.addEventListener("click", () => copy(link, button));
    return part("tr", {}, part("th", { scope: "row" }, who), part("td", {}, link), part("td", {}, button));
  });
  element("made-rows").replaceChildren(...rows);
  element("made-list").value = JSON.stringify(voters.map(({ name, token }) => ({ token, others: others[name] || {} })));
  element("print-sheet").formAction = `/studies/${study}/sheet`;
  element("mailing-list").formAction = `/studies/${study}/links.csv`;
  show("made", rows.length > 0);
}

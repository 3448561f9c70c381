// The rules of a new study: at most, at least, or all or none of some candidates.
import { element, part } from "/static/api.js";
import { grid, named } from "/static/grid.js";

const KINDS = { at_most: "At most", at_least: "At least", together: "Either all of these, or none:" };

const same = (one, other) => one.candidate === other.candidate && one.position === other.position;
const called = ({ candidate, position }) => candidate.name.trim() + (position ? ` as ${position.name.trim()}` : "");

export function drawRules(changed, focus) {
  const lines = grid.rules.map((rule, number) => {
    const kind = part("select", { id: `rule-${number + 1}-kind`, "aria-label": `Kind of rule ${number + 1}` }, ...Object.entries(KINDS).map(([value, text]) => part("option", { value, textContent: text, selected: rule.kind === value })));
    const many = part("input", { type: "number", min: 0, max: 1000, value: rule.number, className: "short", hidden: rule.kind === "together", "aria-label": `How many, in rule ${number + 1}` });
    kind.addEventListener("change", () => {
      rule.kind = kind.value;
      drawRules(changed, `#${kind.id}`);
      changed();
    });
    many.addEventListener("input", () => {
      rule.number = many.value;
      changed();
    });
    const edges = rule.of.filter((item) => item.position);
    const boxes = [...named(grid.candidates).map((candidate) => ({ candidate })), ...edges].map((item) => {
      const box = part("input", { type: "checkbox", checked: rule.of.some((other) => same(other, item)) });
      box.addEventListener("change", () => {
        rule.of = rule.of.filter((other) => !same(other, item));
        if (box.checked) rule.of.push(item);
        changed();
      });
      return part("label", { className: "choice" }, box, called(item));
    });
    const remove = part("button", { type: "button", className: "button small quiet", textContent: "Remove", "aria-label": `Remove rule ${number + 1}` });
    remove.addEventListener("click", () => {
      grid.rules.splice(number, 1);
      drawRules(changed, "#add-rule");
      changed();
    });
    const nobody = part("p", { className: "muted small", hidden: boxes.length > 0 }, "Name the candidates first.");
    return part(
      "fieldset",
      { className: "rule" },
      part("legend", {}, `Rule ${number + 1}`),
      part("p", { className: "inline" }, kind, many, rule.kind === "together" ? "" : "of the positions go to these, taken together:", remove),
      part("div", { className: "boxes" }, ...boxes, nobody),
    );
  });
  element("rules").replaceChildren(...lines);
  element("rules-count").textContent = grid.rules.length ? `(${grid.rules.length})` : "";
  if (focus) document.querySelector(focus)?.focus();
}

// A ranking in the making: chosen from the cards, best first, then moved by dragging, arrow keys or buttons.
import { element, show } from "/static/api.js";
import { fill, fillCount, isolated, made, words } from "/static/cards.js";

export class Ranking {
  // candidates as they are shown; say tells a screen reader; changed is called after every change.
  constructor(candidates, titleOf, ties, say, changed) {
    Object.assign(this, { candidates, titleOf, ties, say, changed });
    this.list = element("ranked");
    this.level = new Set(); // those who are level with the one above
    this.list.replaceChildren();
    this.draw();
  }

  get order() {
    return [...this.list.children].map((item) => item.dataset.name);
  }

  get left() {
    const order = this.order;
    return this.candidates.filter((name) => !order.includes(name));
  }

  // Groups of candidates, best first.
  get groups() {
    const groups = [];
    for (const name of this.order) {
      if (groups.length && this.level.has(name)) groups.at(-1).push(name);
      else groups.push([name]);
    }
    return groups;
  }

  choose(name) {
    if (this.order.includes(name)) return;
    this.list.append(this.item(name));
    const left = this.left;
    if (left.length === 1) this.list.append(this.item(left[0])); // the last place is clear
    this.draw();
    this.tellPlace(name);
  }

  takeOut(name) {
    this.find(name).remove();
    this.level.delete(name);
    this.draw();
    this.say(fill(words.taken_out, { name: isolated(this.titleOf(name)) }));
  }

  empty() {
    this.list.replaceChildren();
    this.level.clear();
    this.draw();
    this.say(words.emptied);
  }

  find(name) {
    return [...this.list.children].find((item) => item.dataset.name === name);
  }

  // Move one place up or down. The neighbour is moved past it, so that it stays in focus, and in the hand that drags it.
  move(item, down) {
    const neighbour = down ? item.nextElementSibling : item.previousElementSibling;
    if (!neighbour) return false;
    if (down) item.before(neighbour);
    else item.after(neighbour);
    this.level.delete(item.dataset.name);
    this.level.delete(neighbour.dataset.name);
    this.draw();
    return true;
  }

  moveByKey(item, down) {
    if (this.move(item, down)) this.tellPlace(item.dataset.name);
  }

  toggleLevel(item) {
    const above = item.previousElementSibling;
    if (!above || !this.ties) return;
    const name = item.dataset.name;
    const isLevel = !this.level.delete(name);
    if (isLevel) this.level.add(name);
    this.draw();
    const both = { name: isolated(this.titleOf(name)), other: isolated(this.titleOf(above.dataset.name)) };
    this.say(fill(isLevel ? words.leveled : words.behind, both));
  }

  tellPlace(name) {
    const order = this.order;
    const values = { name: isolated(this.titleOf(name)), place: order.indexOf(name) + 1, of: this.candidates.length };
    this.say(`${fill(words.placed, values)} ${this.hint()}`);
  }

  hint() {
    const left = this.left.length;
    if (left === this.candidates.length) return words.best;
    return left ? fillCount(words.next, left) : words.complete;
  }

  item(name) {
    const title = this.titleOf(name);
    const item = made("li", "", "", { "data-name": name });
    const labelled = (label) => ({ type: "button", "aria-label": fill(label, { name: isolated(title) }) });
    const handle = made("button", "handle", "⠿", labelled(words.drag));
    const up = made("button", "up", "↑", labelled(words.up));
    const down = made("button", "down", "↓", labelled(words.down));
    const level = made("button", "level", "=", { ...labelled(words.level), "aria-pressed": "false" });
    const out = made("button", "out", "×", labelled(words.out));
    handle.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      this.moveByKey(item, event.key === "ArrowDown");
    });
    handle.addEventListener("pointerdown", (event) => this.drag(event, item, handle));
    up.addEventListener("click", () => this.moveByKey(item, false));
    down.addEventListener("click", () => this.moveByKey(item, true));
    level.addEventListener("click", () => this.toggleLevel(item));
    out.addEventListener("click", () => this.takeOut(name));
    item.append(handle, made("span", "number"), made("span", "title", title, { dir: "auto" }), up, down);
    if (this.ties) item.append(level);
    item.append(out);
    return item;
  }

  drag(event, item, handle) {
    if (event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
    const before = this.order.indexOf(item.dataset.name);
    const follow = ({ clientY }) => {
      const middle = (other) => other.getBoundingClientRect().top + other.offsetHeight / 2;
      const [above, below] = [item.previousElementSibling, item.nextElementSibling];
      if (above && clientY < middle(above)) this.move(item, false);
      else if (below && clientY > middle(below)) this.move(item, true);
    };
    const end = () => {
      item.classList.remove("dragged");
      handle.removeEventListener("pointermove", follow);
      if (this.order.indexOf(item.dataset.name) !== before) this.tellPlace(item.dataset.name);
    };
    handle.addEventListener("pointermove", follow);
    handle.addEventListener("lostpointercapture", end, { once: true });
  }

  draw() {
    const items = [...this.list.children];
    let place = 0;
    items.forEach((item, index) => {
      if (index === 0) this.level.delete(item.dataset.name);
      const isLevel = this.level.has(item.dataset.name);
      if (!isLevel) place = index + 1;
      item.querySelector(".number").textContent = `${isLevel ? "=" : ""}${place}`;
      item.querySelector(".up").disabled = index === 0;
      item.querySelector(".down").disabled = index === items.length - 1;
      const level = item.querySelector(".level");
      if (level) level.disabled = index === 0;
      level?.setAttribute("aria-pressed", String(isLevel));
    });
    element("ranking-hint").textContent = this.hint();
    show("send", this.left.length === 0);
    this.changed();
  }
}

// An answer that the server has not confirmed yet: kept in the browser, so that neither a lost connection nor a
// closed page loses it. It is sent until the server says that it has it; sent twice, it counts once.
let kept = null; // where the browser stores nothing, it lasts as long as the page

export class Outbox {
  constructor(study, voter) {
    this.key = `duelmatch-answer-${study}-${voter}`;
  }

  get() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) || kept;
    } catch {
      return kept;
    }
  }

  put(answer) {
    kept = answer;
    try {
      localStorage.setItem(this.key, JSON.stringify(answer));
    } catch {
      // kept until the page is closed
    }
  }

  clear() {
    kept = null;
    try {
      localStorage.removeItem(this.key);
    } catch {
      // it was not there
    }
  }
}

// Talking to the API: JSON in, JSON out; a refusal is an Error with the sentence to show.
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export async function call(path, body, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (body !== undefined && body !== null) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/api/v1${path}`, {
    method: options.method || "POST",
    headers,
    body: body === undefined || body === null ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = (answer.headers.get("Content-Type") || "").includes("json");
  const content = isJson && text ? JSON.parse(text) : text;
  if (!answer.ok) throw new Refused(answer.status, (isJson && content.detail) || "The server is out of order.");
  return content;
}

export const get = (path) => call(path, null, { method: "GET" });

// A refusal is final; a lost connection, a busy server or a limit is worth another try.
export async function patiently(work, onTrouble) {
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    try {
      const result = await work();
      onTrouble(null);
      return result;
    } catch (error) {
      if (error instanceof Refused && ![429, 502, 503, 504].includes(error.status)) throw error;
      onTrouble("The server cannot be reached right now. Trying again …");
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
        addEventListener("online", resolve, { once: true });
      });
    }
  }
}

export const element = (id) => document.getElementById(id);

// Make a part of the page; what has a hyphen in its name is an attribute, and all else a property.
export function part(tag, properties = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...content);
  return made;
}

export function show(id, visible) {
  element(id).hidden = !visible;
}

export function trouble(sentence) {
  element("trouble").textContent = sentence || "";
  show("trouble", Boolean(sentence));
}

// Say next to a field what is wrong with it, until it is mended.
export function fieldError(id, sentence) {
  const [field, place] = [element(id), element(`${id}-error`)];
  place.textContent = sentence || "";
  place.hidden = !sentence;
  if (sentence) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

// The address that a token is shared as: one by which phones find the server.
export const linkOf = (token) => `${document.documentElement.dataset.address}/l/${token}`;

// Copy what a field has, and say so on the button.
export async function copy(field, button) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    if (!document.execCommand("copy")) return; // it is selected: the keyboard copies it
  }
  button.textContent = "Copied";
}

// The page on which an organiser mends titles, texts, places, pictures and links.
import { call, element, fieldError } from "/static/api.js";
import { upload } from "/static/pictures.js";

const study = `/studies/${element("mend").dataset.study}`;
const DETAILS = ["title", "text", "place", "link", "picture"];

function say(form, sentence) {
  const place = form.querySelector("[role=alert]");
  place.textContent = sentence || "";
  place.hidden = !sentence;
}

function details(form) {
  const fields = DETAILS.map((name) => form.elements[name]).filter(Boolean);
  return Object.fromEntries(fields.map((field) => [field.name, field.value.trim() || null]));
}

function picture(form, address) {
  const image = form.querySelector(".thumb");
  form.elements.picture.value = address || "";
  image.hidden = !address;
  if (address) image.src = address;
  form.querySelector(".no-picture").hidden = !address;
}

for (const form of document.querySelectorAll(".mend-form, #late-form")) {
  form.addEventListener("input", () => {
    say(form, null);
    const saved = form.querySelector(".saved");
    if (saved) saved.textContent = "";
  });
  form.querySelector(".picture-file")?.addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    try {
      say(form, null);
      picture(form, await upload(`${study}/pictures`, file));
    } catch (error) {
      say(form, error.message);
    }
    event.target.value = "";
  });
  form.querySelector(".no-picture")?.addEventListener("click", () => picture(form, null));
}

for (const form of document.querySelectorAll(".mend-form"))
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await call(`${study}/edit`, { [form.dataset.kind]: { [form.dataset.name]: details(form) } });
      say(form, null);
      form.querySelector(".saved").textContent = "Saved. Voters see it as soon as they open their page again.";
    } catch (error) {
      say(form, error.message);
    }
  });

element("late-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const candidate = element("late-name").value.trim();
  const positions = [...form.querySelectorAll(".late-position:checked")].map((box) => box.value);
  if (!candidate || !positions.length) {
    say(form, candidate ? "Choose at least one position." : "Give the name of the candidate.");
    return;
  }
  try {
    await call(`${study}/add`, { candidate, positions, details: details(form) });
    location.reload();
  } catch (error) {
    say(form, error.message);
  }
});

element("study-name").addEventListener("input", () => fieldError("study-name", null));
element("rename").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = element("study-name").value.trim();
  try {
    if (!name) throw new Error("Give it a name.");
    await call(`${study}/edit`, { name });
    location.reload();
  } catch (error) {
    fieldError("study-name", error.message);
  }
});

// Pictures: what somebody chooses goes to the server at once, which checks it and writes it anew.
import { Refused } from "/static/api.js";

export const LARGEST_PICTURE = 10_000_000;

// Return the address of the picture on the server.
export async function upload(path, file, headers = {}) {
  if (file.size > LARGEST_PICTURE)
    throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB, where 10 MB are allowed. Make it smaller, and choose it again.`);
  const answer = await fetch(`/api/v1${path}`, { method: "POST", headers: { ...headers, "Content-Type": "application/octet-stream" }, body: file });
  const content = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, `${file.name}: ${content.detail}`);
  return content.picture;
}

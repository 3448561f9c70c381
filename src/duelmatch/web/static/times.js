// Times as the reader writes them, in the reader's time zone: every <time datetime> on the page, every
// tooltip of a chart that begins with one, and those that come later.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function show(place) {
  for (const time of place.querySelectorAll("time[datetime]")) {
    const text = format.format(new Date(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
  for (const title of place.querySelectorAll("title[data-time]")) {
    const text = `${format.format(new Date(title.dataset.time))}: ${title.dataset.then}`;
    if (title.textContent !== text) title.textContent = text;
  }
}

show(document);
new MutationObserver(() => show(document)).observe(document.body, { childList: true, subtree: true });

// SPDX-License-Identifier: MIT
// Search through search.js, which lies beside: every word must be in a section; titles count most.
const base = document.currentScript.dataset.base;
const box = document.getElementById("search");
const results = document.getElementById("results");
let at = -1;

function score(row, words) {
  const [title, page, , text] = row.map((part) => part.toLowerCase());
  let sum = 0;
  for (const word of words) {
    if (title === word) sum += 30;
    else if (title.startsWith(word)) sum += 12;
    else if (title.includes(word)) sum += 8;
    else if (page.includes(word)) sum += 3;
    else if (text.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function excerpt(text, word) {
  const found = text.toLowerCase().indexOf(word);
  const from = Math.max(0, found - 60);
  const span = document.createElement("small");
  if (found < 0) {
    span.textContent = text.slice(0, 160);
    return span;
  }
  const mark = document.createElement("b");
  mark.textContent = text.slice(found, found + word.length);
  span.append((from ? "… " : "") + text.slice(from, found), mark, text.slice(found + word.length, found + 120) + " …");
  return span;
}

function search() {
  const words = box.value.toLowerCase().replace(/\(\)/g, "").split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  results.replaceChildren();
  at = -1;
  if (!words.length) return;
  const rows = window.SINEW_SEARCH.map((row) => [score(row, words), row]).filter(([n]) => n > 0);
  rows.sort((a, b) => b[0] - a[0]);
  for (const [, [title, page, url, text]] of rows.slice(0, 30)) {
    const link = document.createElement("a");
    link.href = base + "/" + url;
    link.append(title === page ? title : `${title} · ${page}`, excerpt(text, words[0]));
    results.append(link);
  }
  if (!rows.length) {
    const none = document.createElement("p");
    none.textContent = "Nothing has all of these words.";
    results.append(none);
  }
}

box.addEventListener("input", search);
box.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  if (event.key === "Escape") { box.value = ""; search(); }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    at = Math.max(0, Math.min(links.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
    links.forEach((link, i) => link.classList.toggle("at", i === at));
    links[at]?.scrollIntoView({ block: "nearest" });
  }
  if (event.key === "Enter" && links.length) location.href = links[Math.max(0, at)].href;
});
results.addEventListener("click", () => { results.hidden = true; });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
});

import { LocalSets } from "./offline.js";

// Text is only inserted using textContent, because a key may look like markup.

const REFRESH_MILLIS = 2000;
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

const local = new LocalSets(showLocal);

// Only kept in this page, until the user leaves it.
let headers = {};
let chosen = null;
// The names of the lists, which are queried for URLs.
let lists = new Set();
let shown = "";

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const count = (n) => n.toLocaleString("en-US");

function short(n) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (n >= size) return trimmed(n / size) + " " + unit;
  }
  return trimmed(n);
}

function bytes(n) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (n >= size) return trimmed(n / size) + " " + unit;
  }
  return n + " B";
}

const trimmed = (n) => String(Number(n.toPrecision(3)));

function percent(rate) {
  return (rate < 1e-8 && rate > 0 ? (rate * 100).toExponential(1) : trimmed(rate * 100)) + " %";
}

function time(millis) {
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? String(millis)
    : date.toISOString().replace("T", " ").replace(/(:00)?\.\d+Z$/, "") + " UTC";
}

function span(millis) {
  const seconds = Math.max(0, Math.round(millis / 1000));
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= 2 * size) return Math.floor(seconds / size) + " " + unit;
  }
  return seconds + " s";
}

function figure(name, value, note) {
  const box = element("div");
  const shownValue = element("dd", value);
  if (note) shownValue.append(element("small", note));
  box.append(element("dt", name), shownValue);
  return box;
}

function showSet(set, nowMillis) {
  $("name").textContent = set.set;
  const badge = $("state");
  badge.textContent = set.state.toLowerCase();
  badge.className = "badge" + (set.notReady ? " bad" : set.state === "READY" ? " good" : "");
  const sentence = set.notReady || set.trouble;
  $("trouble").hidden = !sentence;
  $("trouble").textContent = sentence || "";
  $("manifest").href = "v1/manifest?set=" + encodeURIComponent(set.set);
  const figures = [];
  if (set.sequence !== undefined) {
    figures.push(
      figure("Keys", count(set.keys)),
      figure("Size", bytes(set.bytes),
        set.keys ? trimmed(set.bytes * 8 / set.keys) + " bits per key" : ""),
      figure("False-positive rate", percent(set.falsePositiveRate),
        "at most " + percent(set.falsePositiveRateAskedFor)),
      figure("Published", span(nowMillis - set.publishedMillis) + " ago",
        time(set.publishedMillis)),
      figure("Sequence", count(set.sequence), set.shards + " shards"),
      figure("Window", span(set.windowEndMillis - set.windowStartMillis),
        "until " + time(set.windowEndMillis)),
      figure("Canonical form", set.canonicaliser,
        set.strippedParameters ? "without " + set.strippedParameters.replaceAll(",", ", ") : ""),
      figure("Hash", set.hash));
  }
  $("figures").replaceChildren(...figures);
}

// The end of an axis: a round number of the unit in which it is labelled.
function nice(top, base) {
  const unit = base ** Math.floor(Math.log(top) / Math.log(base));
  const size = unit * 10 ** Math.floor(Math.log10(top / unit));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((n) => n * size).find((n) => n >= top);
}

function chart(width, published, value, label, base, what) {
  const height = 170, left = 58, right = 14, top = 14, bottom = 26;
  const values = published.map(value);
  const highest = nice(Math.max(1, ...values), base);
  const x = (i) => published.length === 1 ? (left + width - right) / 2
    : left + i * (width - left - right) / (published.length - 1);
  const y = (v) => top + (1 - v / highest) * (height - top - bottom);
  const last = published[published.length - 1];
  const svg = drawn("svg", {
    viewBox: "0 0 " + width + " " + height, role: "img",
    "aria-label": what + " of the last " + published.length + " snapshots; the last has "
      + label(values[values.length - 1]),
  });
  for (const share of [0, 0.5, 1]) {
    const at = y(highest * share);
    svg.append(drawn("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }),
      drawn("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, label(highest * share)));
  }
  const points = values.map((v, i) => x(i).toFixed(1) + "," + y(v).toFixed(1));
  if (points.length > 1) {
    svg.append(
      drawn("polygon", { class: "area", points: [x(0) + "," + y(0), ...points,
        x(points.length - 1) + "," + y(0)].join(" ") }),
      drawn("polyline", { class: "line", points: points.join(" ") }));
  }
  const step = (width - left - right) / Math.max(1, published.length - 1);
  values.forEach((v, i) => {
    if (published.length <= 40 || i === values.length - 1) {
      svg.append(drawn("circle", { class: "dot", cx: x(i), cy: y(v), r: 3.5 }));
    }
    const hit = drawn("rect", { class: "hit", x: x(i) - step / 2, width: step, y: top,
      height: height - top - bottom });
    hit.append(drawn("title", {}, "sequence " + published[i].sequence + ", until "
      + time(published[i].windowEndMillis) + ": " + label(v)));
    svg.append(hit);
  });
  svg.append(drawn("text", { x: published.length === 1 ? x(0) : left, y: height - 6,
    "text-anchor": published.length === 1 ? "middle" : "start" }, "#" + published[0].sequence));
  if (published.length > 1) {
    svg.append(drawn("text", { x: width - right, y: height - 6, "text-anchor": "end" },
      "#" + last.sequence));
  }
  return svg;
}

function showPublished(published, firstSnapshot) {
  $("none").hidden = published.length > 0;
  $("none").textContent = "None yet" + (firstSnapshot ? ": " + firstSnapshot : "") + ".";
  $("table-box").hidden = published.length === 0;
  if (published.length === 0) {
    $("keys-chart").replaceChildren();
    $("bytes-chart").replaceChildren();
    $("rows").replaceChildren();
    return;
  }
  // One unit of the drawing is one pixel, so that its text is as large as the other.
  const width = Math.max(220, $("keys-chart").clientWidth);
  $("keys-chart").replaceChildren(chart(width, published, (p) => p.keys, short, 1000, "Keys"));
  $("bytes-chart").replaceChildren(chart(width, published, (p) => p.changeBytes, bytes, 1024, "Bytes of changes"));
  $("rows").replaceChildren(...published.map((each, i) => {
    const change = i === 0 ? "" : each.keys - published[i - 1].keys;
    const row = element("tr");
    row.append(element("td", each.sequence), element("td", time(each.windowEndMillis)),
      element("td", count(each.keys)),
      element("td", change === "" ? "" : (change > 0 ? "+" : change < 0 ? "−" : "")
        + count(Math.abs(change))),
      element("td", bytes(each.changeBytes)));
    return row;
  }).reverse());
}

function showChoice(names) {
  const select = $("set");
  if (names.join("\n") !== Array.from(select.options, (o) => o.value).join("\n")) {
    select.replaceChildren(...names.map((name) => new Option(name, name)));
  }
  if (!names.includes(chosen)) chosen = names[0];
  select.value = chosen;
  $("choose").hidden = names.length < 2;
}

function show(status) {
  showChoice(status.sets.map((set) => set.set));
  const set = status.sets.find((each) => each.set === chosen);
  local.knowAllowSets(status.sets.filter((each) => each.allow).map((each) => each.set));
  lists = new Set(status.sets.filter((each) => each.list).map((each) => each.set));
  $("key-label").textContent = lists.has(chosen) ? "URL" : "Key";
  showSet(set, status.nowMillis);
  if (set.sequence !== undefined) local.know(set.set, set.bytes);
  showLocal();
  // Only when data has changed, so that the element under the pointer stays.
  const published = JSON.stringify([chosen, set.published, window.innerWidth]);
  if (published !== shown) {
    shown = published;
    showPublished(set.published, set.firstSnapshot);
  }
  document.documentElement.dataset.loaded = "true";
}

async function refresh() {
  const sent = headers;
  try {
    const reply = await fetch("v1/status", { headers: sent, signal: AbortSignal.timeout(5000) });
    if (!reply.ok && reply.status !== 401) throw new Error("status " + reply.status);
    const status = reply.ok ? await reply.json() : null;
    // The user may have entered a different token in the meantime; this response belongs to an
    // earlier token.
    if (sent !== headers) return;
    if (status === null) {
      askForToken();
      return;
    }
    show(status);
    $("lost").hidden = true;
  } catch (failure) {
    if (sent !== headers) return;
    $("lost").textContent = "The service does not respond; the data shown may be outdated.";
    $("lost").hidden = false;
    // A set also expires without the service.
    showLocal();
  }
}

function askForToken() {
  const wasGiven = "authorization" in headers;
  // It stays until a different token is entered.
  if (!$("token-form").hidden && isNoToken) return;
  $("lost").textContent = wasGiven ? "The token is not valid for this service." : "This service needs a token.";
  $("lost").hidden = false;
  $("token-form").hidden = false;
}

let isNoToken = false;

function useToken(event) {
  event.preventDefault();
  const token = $("token").value.trim();
  // Requests cannot contain other characters, such as characters that are copied along with text.
  isNoToken = !/^[!-~]+$/.test(token);
  if (isNoToken) {
    $("lost").textContent = "This cannot be a token: it has characters that no token has.";
    $("lost").hidden = false;
    return;
  }
  headers = { authorization: "Bearer " + token };
  local.useHeaders(headers);
  $("token").value = "";
  $("token-form").hidden = true;
  refresh();
}

async function follow() {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MILLIS));
  }
}

// The local queries that the page supports for the chosen set, and their state.
function showLocal() {
  const state = local.stateOf(chosen);
  $("offline").hidden = state === null;
  if (state === null) return;
  const { isOn, allowSets, manifest, update, trouble } = state;
  $("download").hidden = allowSets.length > 0;
  $("download").textContent = isOn ? "Query the service again" : "Download the set";
  const sentences = [];
  if (allowSets.length > 0) {
    sentences.push("This list cannot be downloaded: the service overrides lists by its allow sets ("
      + allowSets.join(", ") + "), and this page would not.");
  } else if (!isOn) {
    sentences.push("This page then runs queries locally, even without the service; about " + bytes(state.bytes) + ".");
  } else if (manifest === null) {
    sentences.push(trouble === null ? "Downloading…" : "Cannot be downloaded: " + trouble.message);
  } else {
    sentences.push("This page runs queries locally, using sequence " + manifest.sequence + ", "
      + (update.way === "nothing" ? "" : bytes(update.bytes) + " by " + update.way + ", ")
      + "window until " + time(Number(manifest.windowEndMillis)) + ".");
    if (local.isStale(chosen)) sentences.push("It has expired.");
    if (trouble !== null) sentences.push("No newer snapshot is available: " + trouble.message);
  }
  $("offline-text").textContent = sentences.join(" ");
}

function badge(word, kind) {
  return element("span", word, "badge " + kind);
}

function showAnswer(verdict, rows) {
  const details = element("dl");
  for (const [name, value] of rows) details.append(element("dt", name), element("dd", value));
  const line = element("p", undefined, "verdict");
  line.append(...verdict);
  $("answer").replaceChildren(line, ...(rows.length > 0 ? [details] : []));
}

function showInvalid(word, sentence) {
  showAnswer([badge(word, "bad"), " " + sentence], []);
}

const presence = (present) => present ? badge("present", "good") : badge("absent", "neutral");

function askHere(key, scope) {
  try {
    const { present, canonical, entry, manifest } = local.ask(chosen, key, scope);
    const rows = [[lists.has(chosen) ? "URL" : "Key", key], ["Canonical form", canonical]];
    if (entry !== null) rows.push(["Listed by", entry]);
    showAnswer([presence(present), " by this page, sequence " + manifest.sequence + ", window until "
      + time(Number(manifest.windowEndMillis)) + (local.isStale(chosen) ? ". It has expired." : "")], rows);
  } catch (failure) {
    showInvalid(failure.name === "InvalidKeyError" ? "invalid" : "no answer", failure.message);
  }
}

function showKeyAnswer(result) {
  showAnswer([presence(result.present), " by sequence " + count(result.sequence) + ", window until "
    + time(result.windowEndMillis)],
  [["Key", result.key], ["Canonical form", result.canonical],
    ["Shard", result.shard + " of " + result.shards]]);
}

function showListAnswer(result) {
  const by = result.sets.find((each) => each.set === chosen);
  showAnswer([presence(result.present), " by sequence " + count(by.sequence) + ", window until "
    + time(by.windowEndMillis)],
  [["URL", result.url],
    ...result.matches.map(({ entry }) => ["Listed by", entry]),
    ...result.allowedBy.map(({ set, entry }) => ["Allowed by", entry + " of " + set])]);
}

async function askService(path, parameters, show) {
  try {
    const reply = await fetch(path + "?" + new URLSearchParams(parameters), { headers, signal: AbortSignal.timeout(5000) });
    const result = await reply.json();
    // The user may have chosen a different set in the meantime.
    if (parameters.set !== chosen) return;
    if (reply.ok) show(result);
    else showInvalid(reply.status === 400 ? "invalid" : "no answer", result.error);
  } catch (failure) {
    if (parameters.set === chosen) $("answer").replaceChildren(element("p", "The service does not respond.", "trouble"));
  }
}

async function ask(event) {
  event.preventDefault();
  const key = $("key").value;
  const scope = $("scope").value;
  const parameters = { set: chosen, ...(scope ? { scope } : {}) };
  if (local.answers(chosen)) {
    askHere(key, scope);
  } else if (lists.has(chosen)) {
    await askService("v1/match", { url: key, ...parameters }, showListAnswer);
  } else {
    await askService("v1/contains", { key, explain: "true", ...parameters }, showKeyAnswer);
  }
}

$("form").addEventListener("submit", ask);
$("token-form").addEventListener("submit", useToken);
$("set").addEventListener("change", () => {
  chosen = $("set").value;
  $("answer").replaceChildren();
  showLocal();
  refresh();
});
$("download").addEventListener("click", () => local.toggle(chosen));
window.addEventListener("resize", () => {
  if (shown) refresh();
});
follow();

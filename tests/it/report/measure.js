"use strict";
// Measures the page in the frame and writes what it saw into a <pre>, which --dump-dom prints.

const frame = document.getElementById("page");

frame.addEventListener("load", () => {
  const page = frame.contentDocument;
  const seen = measure(page, frame.contentWindow);
  frame.remove();
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = JSON.stringify(seen);
  document.body.append(pre);
});

function measure(page, view) {
  const root = page.documentElement;
  const all = [...page.querySelectorAll("svg.chart:not(.swatch)")];
  const shown = all.filter((chart) => chart.getClientRects().length > 0);
  const texts = contrasts(page, view);
  const faintest = texts.reduce((a, b) => (b.contrast < a.contrast ? b : a), { contrast: 21, text: "" });
  return {
    title: page.title,
    background: view.getComputedStyle(page.body).backgroundColor,
    window_width: root.clientWidth,
    content_width: root.scrollWidth,
    charts: shown.map(chart),
    hidden_charts: all.length - shown.length,
    texts: texts.length,
    least_contrast: faintest.contrast,
    faintest: faintest.text,
    overlaps: shown.flatMap(overlaps),
    loaded: view.performance.getEntriesByType("resource").map((entry) => entry.name),
  };
}

function chart(svg) {
  const box = svg.getBoundingClientRect();
  const inside = (node) => {
    const own = node.getBoundingClientRect();
    return own.width > 1 && own.height > 1 && own.left >= box.left - 2 && own.right <= box.right + 2 &&
      own.top >= box.top - 2 && own.bottom <= box.bottom + 2;
  };
  const texts = [...svg.querySelectorAll("text")];
  return {
    id: svg.id,
    left: box.left,
    right: box.right,
    width: box.width,
    height: box.height,
    marks: [...svg.querySelectorAll(".mark")].filter(inside).length,
    cut_off: texts.filter((text) => !inside(text)).map((text) => text.textContent),
  };
}

// Pairs of texts of a chart that share more than a hair's breadth.
function overlaps(svg) {
  const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = [];
  texts.forEach(([one, a], at) => {
    for (const [other, b] of texts.slice(at + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 2) found.push(`${svg.id}: ${one} and ${other}`);
    }
  });
  return found;
}

// Every text that can be seen, with its contrast to the ground below it.
function contrasts(page, view) {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const hidden = parent.getClientRects().length === 0 || parent.closest("title, desc, style, .unseen");
    if (text === "" || hidden) continue;
    const style = view.getComputedStyle(parent);
    const ink = colour(parent instanceof view.SVGElement ? style.fill : style.color);
    found.push({ text: text.slice(0, 60), contrast: contrast(ink, ground(parent, view)) });
  }
  return found;
}

function ground(element, view) {
  for (let node = element; node; node = node.parentElement) {
    const own = colour(view.getComputedStyle(node).backgroundColor);
    if (own[3] > 0) return own;
  }
  return [255, 255, 255, 1];
}

function colour(text) {
  const parts = text.match(/[\d.]+/g).map(Number);
  return parts.length === 3 ? [...parts, 1] : parts;
}

function contrast(a, b) {
  const [light, dark] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// The JavaScript of the page, which draws the curves and reacts to the pointer.
#include "report.hpp"

namespace coldpress::train::detail {

char const* const report_script = R"js(
"use strict";
(() => {
  const H = 250, left = 52, right = 12, top = 10, bottom = 30;
  const charts = JSON.parse(document.getElementById("curves").textContent);
  const svg = (kind, attributes, parent, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const html = (kind, name, parent, text) => {
    const node = document.createElement(kind);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return parent.appendChild(node);
  };
  const short = value => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e4 && size < 1e15 && Number.isInteger(value))
      return size % 1e6 === 0 ? value / 1e6 + "M"
        : size % 1e3 === 0 ? value / 1e3 + "k" : value.toLocaleString("en");
    return size < 1e-3 || size >= 1e6 ? value.toExponential(2).replace(/\.?0+e/, "e") : String(+value.toPrecision(4));
  };
  const ticks = (low, high, count) => {
    const rough = (high - low) / count, unit = 10 ** Math.floor(Math.log10(rough)), digit = rough / unit;
    const step = (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * unit, found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k)
      found.push(+(k * step).toPrecision(12));
    return found;
  };
  const decades = (low, high) => {
    const found = [], few = high - low < 2.5;
    for (let e = Math.floor(low); e <= Math.ceil(high); ++e)
      for (const digit of few ? [1, 2, 5] : [1]) {
        const at = e + Math.log10(digit);
        if (at >= low - 1e-9 && at <= high + 1e-9) found.push(+(digit * 10 ** e).toPrecision(3));
      }
    return found;
  };

  const show = (chart, place) => {
    const card = html("section", "card chart", place), header = html("header", "", card);
    html("h3", "", header, chart.title);
    const values = chart.series.flatMap(s => s.y).filter(y => y !== null);
    let log = false;
    if (values.length && values.every(y => y > 0)) {
      const button = html("button", "scale", header, "log scale");
      button.type = "button";
      button.onclick = () => { log = !log; button.textContent = log ? "linear scale" : "log scale"; draw(); };
    }
    const area = svg("svg", {role: "img", "aria-label": chart.title}, card);
    const legend = html("div", "legend", card), tip = html("div", "tip", card);
    const hidden = new Set();
    chart.series.forEach((series, i) => {
      const button = html("button", "", legend, series.name);
      button.type = "button";
      button.style.setProperty("--c", `var(--c${i % 7})`);
      button.setAttribute("aria-pressed", "true");
      button.onclick = () => {
        hidden.has(i) ? hidden.delete(i) : hidden.add(i);
        button.setAttribute("aria-pressed", String(!hidden.has(i)));
        draw();
      };
    });
    let W = 0, x = value => value, cursor = null, dots = null;
    const visible = () => chart.series.map((series, i) => ({series, i})).filter(({i}) => !hidden.has(i));

    const draw = () => {
      W = area.getBoundingClientRect().width || 520;
      area.setAttribute("viewBox", `0 0 ${W} ${H}`);
      area.replaceChildren();
      tip.style.visibility = "hidden";
      const map = y => log ? Math.log10(y) : y;
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      for (const {series} of visible()) series.x.forEach((at, k) => {
        if (series.y[k] === null) return;
        x0 = Math.min(x0, at); x1 = Math.max(x1, at);
        y0 = Math.min(y0, map(series.y[k])); y1 = Math.max(y1, map(series.y[k]));
      });
      if (x0 > x1) { x0 = 0; x1 = 1; y0 = 0; y1 = 1; }
      if (x0 === x1) { x0 -= 1; x1 += 1; }
      const margin = y1 > y0 ? 0.05 * (y1 - y0) : Math.abs(y0) / 10 || 1;
      y0 = !log && y0 >= 0 && y0 - margin < 0 ? 0 : y0 - margin;
      y1 += margin;
      x = at => left + (W - left - right) * (at - x0) / (x1 - x0);
      const y = value => top + (H - top - bottom) * (1 - (map(value) - y0) / (y1 - y0));
      for (const tick of log ? decades(y0, y1) : ticks(y0, y1, 5)) {
        svg("line", {class: "grid", x1: left, x2: W - right, y1: y(tick), y2: y(tick)}, area);
        svg("text", {x: left - 7, y: y(tick) + 4, "text-anchor": "end"}, area, short(tick));
      }
      for (const tick of ticks(x0, x1, W / 90).filter(Number.isInteger)) {
        svg("line", {class: "axis", x1: x(tick), x2: x(tick), y1: H - bottom, y2: H - bottom + 4}, area);
        svg("text", {x: x(tick), y: H - bottom + 17, "text-anchor": "middle"}, area, short(tick));
      }
      svg("line", {class: "axis", x1: left, x2: W - right, y1: H - bottom, y2: H - bottom}, area);
      cursor = svg("line", {class: "cursor", y1: top, y2: H - bottom}, area);
      for (const {series, i} of visible()) {
        let path = "", pen = "M";
        series.x.forEach((at, k) => {
          if (series.y[k] === null) { pen = "M"; return; }
          path += pen + x(at).toFixed(1) + " " + y(series.y[k]).toFixed(1);
          pen = "L";
        });
        const style = `stroke:var(--c${i % 7})`;
        const dense = series.x.length > 150 && chart.series.length > 1;
        if (path) svg("path", {class: dense ? "curve dense" : "curve", d: path, style}, area);
        if (series.x.length <= 40) series.x.forEach((at, k) => {
          const style = `fill:var(--c${i % 7})`;
          if (series.y[k] !== null) svg("circle", {cx: x(at), cy: y(series.y[k]), r: 2.4, style}, area);
        });
      }
      dots = svg("g", {}, area);
      dots.at = y;
    };

    area.onpointermove = event => {
      const frame = area.getBoundingClientRect(), at = (event.clientX - frame.left) * W / frame.width;
      let best = null;
      const nearest = series => {
        let found = -1;
        series.x.forEach((value, k) => {
          const closer = found < 0 || Math.abs(x(value) - at) < Math.abs(x(series.x[found]) - at);
          if (series.y[k] !== null && closer) found = k;
        });
        return found;
      };
      const points = visible().map(({series, i}) => ({series, i, k: nearest(series)})).filter(({k}) => k >= 0);
      for (const {series, k} of points)
        if (best === null || Math.abs(x(series.x[k]) - at) < Math.abs(x(best) - at)) best = series.x[k];
      if (best === null) return;
      cursor.setAttribute("x1", x(best));
      cursor.setAttribute("x2", x(best));
      cursor.style.visibility = "visible";
      dots.replaceChildren();
      tip.replaceChildren();
      html("div", "", tip, "step " + best.toLocaleString("en"));
      for (const {series, i, k} of points) {
        svg("circle", {cx: x(series.x[k]), cy: dots.at(series.y[k]), r: 3.6, style: `fill:var(--c${i % 7})`}, dots);
        const line = html("div", "", tip);
        html("i", "", line).style.background = `var(--c${i % 7})`;
        line.append(series.name + (series.x[k] === best ? "" : " (step " + series.x[k].toLocaleString("en") + ")"));
        html("b", "", line, String(+series.y[k].toPrecision(5)));
      }
      const place = card.getBoundingClientRect(), px = frame.left - place.left + x(best) * frame.width / W;
      tip.style.visibility = "visible";
      tip.style.top = (frame.top - place.top + 8) + "px";
      const side = px + tip.offsetWidth + 20 > place.width ? px - tip.offsetWidth - 12 : px + 12;
      tip.style.left = Math.max(4, side) + "px";
    };
    area.onpointerleave = () => {
      tip.style.visibility = cursor.style.visibility = "hidden";
      dots.replaceChildren();
    };
    draw();
    new ResizeObserver(() => { if (Math.abs(area.getBoundingClientRect().width - W) > 1) draw(); }).observe(card);
  };
  for (const chart of charts) show(chart, document.getElementById("charts"));
})();
)js";

}  // namespace coldpress::train::detail

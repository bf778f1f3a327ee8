// The CSS of the page, with colours for light and dark screens.
#include "report.hpp"

namespace coldpress::train::detail {

char const* const report_style = R"css(
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b2027;--soft:#667080;--line:#e3e6eb;--grid:#edeff2;
--accent:#0072b2;--wrong:#d55e00;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b8619b;--c4:#b07d00;--c5:#3d9bd1;
--c6:#6b6f76}
@media(prefers-color-scheme:dark){:root{--page:#12151a;--card:#1a1f26;--ink:#e7eaee;--soft:#98a2b0;--line:#2b323c;
--grid:#242b34;
--accent:#4aa8e0;--wrong:#ee8434;--c0:#4aa8e0;--c1:#ee8434;--c2:#2fc59b;--c3:#d98fc0;--c4:#e0b03a;--c5:#8fd0f5;
--c6:#a9b0ba}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
main{max-width:1120px;margin:0 auto;padding:36px 24px 56px}
h1{font-size:28px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:18px;margin:40px 0 12px}
.lead,.note{color:var(--soft);margin:0}.note{margin-top:10px;font-size:14px}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:12px;margin-top:22px}
.tile{padding:12px 14px}.tile b{display:block;font-size:24px;line-height:1.25;font-weight:650;letter-spacing:-.01em}
.tile span{display:block;color:var(--soft);font-size:12.5px;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:14px}
.charts>:first-child:nth-last-child(odd){grid-column:1/-1}
.chart{position:relative;min-width:0}
.chart header{display:flex;justify-content:space-between;align-items:baseline;gap:12px}
.chart h3{margin:0;font-size:15px}
.chart svg{display:block;width:100%;height:250px;overflow:visible;touch-action:pan-y}
.chart text{fill:var(--soft);font-size:11px}
.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--line)}
.chart .curve{fill:none;stroke-width:1.9;stroke-linejoin:round;stroke-linecap:round}
.chart .dense{stroke-width:1.2;opacity:.65}
.chart .cursor{stroke:var(--soft);stroke-dasharray:3 3;visibility:hidden}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;margin-top:6px;font-size:13px}
button{font:inherit;color:inherit;background:none;border:0;padding:2px 0;cursor:pointer}
.legend button::before{content:"";display:inline-block;width:16px;height:3px;border-radius:2px;margin-right:6px;
vertical-align:4px;
background:var(--c)}
.legend button[aria-pressed=false]{opacity:.4;text-decoration:line-through}
.scale{color:var(--soft);font-size:12px;border:1px solid var(--line);border-radius:6px;padding:0 8px}
button:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.tip{position:absolute;pointer-events:none;visibility:hidden;background:var(--card);border:1px solid var(--line);
border-radius:8px;
box-shadow:0 4px 16px #0003;padding:6px 10px;font-size:12.5px;white-space:nowrap;z-index:2}
.tip i{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:6px}.tip b{float:right;margin-left:16px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px}
th,td{padding:5px 12px;text-align:left;white-space:nowrap}
thead th{color:var(--soft);font-weight:500;font-size:13px;border-bottom:1px solid var(--line)}
tbody th{font-weight:550}tfoot th,tfoot td{border-top:1px solid var(--line);font-weight:600}
table.layers{width:100%}.layers tbody tr:hover{background:var(--grid)}
th.number,td.number{text-align:right;position:relative}
td.number i{position:absolute;right:8px;bottom:2px;height:3px;border-radius:2px;width:calc(var(--share)*80px);
background:var(--accent);
opacity:.55}
td.with{color:var(--soft);font-size:13px;text-align:right}
.confusion{font-size:13px}.confusion th,.confusion td{padding:7px 6px;text-align:center;min-width:56px}
.confusion tbody th,.confusion tfoot th,.confusion thead th:first-child{text-align:right;min-width:0;padding-right:10px}
.confusion tbody td{border:2px solid var(--card);border-radius:6px}
.confusion .none{color:var(--line)}
.confusion .right{background:color-mix(in srgb,var(--accent) calc(var(--share)*88%),transparent)}
.confusion .wrong{background:color-mix(in srgb,var(--wrong) calc(var(--share)*100%),transparent)}
.confusion .right.strong{color:#fff;font-weight:600}
.confusion tfoot td{font-weight:400;color:var(--soft);font-size:12px}.confusion td.sum{color:var(--soft)}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(112px,1fr));gap:16px 12px}
figure{margin:0;font-size:13px;line-height:1.35;min-width:0}
figure img{width:100%;aspect-ratio:1;object-fit:contain;image-rendering:pixelated;background:#000;border-radius:8px;
display:block;
margin-bottom:6px}
figcaption{overflow-wrap:anywhere}figcaption span{color:var(--soft);font-size:12px}
.plan{display:block;width:100%;max-width:980px;height:auto;font-size:12px}
.plan text{fill:var(--ink)}.plan .head{fill:var(--soft);font-size:13px}.plan .shape{text-anchor:end;fill:var(--soft)}
.plan .group{fill:var(--grid);stroke:var(--line)}.plan .layer{fill:var(--card);stroke:var(--line)}
.plan .weights{stroke:var(--accent);stroke-width:1.4}
.plan .frame{fill:none;stroke:var(--line);stroke-dasharray:3 3}
.plan .edge{fill:none;stroke:var(--soft);stroke-width:1.3}
.plan .value{fill:var(--accent);fill-opacity:.22;stroke:var(--accent)}
.plan .scratch{fill:var(--c4);fill-opacity:.25;stroke:var(--c4)}
pre{margin:0;overflow-x:auto;font:13px/1.45 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:0;font-size:14px}dt{color:var(--soft)}dd{
margin:0}
.card+.card{margin-top:14px}.chart+.chart,.tile+.tile{margin-top:0}
footer{margin-top:40px;color:var(--soft);font-size:13px}
@media print{.card{break-inside:avoid}.scale{display:none}}
)css";

}  // namespace coldpress::train::detail

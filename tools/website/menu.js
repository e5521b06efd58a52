// SPDX-License-Identifier: Apache-2.0
// Scrolls the page's menu along, so that the entry of the visible section stays visible.
$(window).on("activate.bs.scrollspy", function () {
  const menu = document.getElementById("toc-collapse");
  const here = Array.from(document.querySelectorAll("#toc-collapse a.active")).pop();
  if (!menu || !here) return;
  const within = here.getBoundingClientRect(), frame = menu.getBoundingClientRect();
  if (within.top < frame.top) menu.scrollTop -= frame.top - within.top + frame.height / 3;
  if (within.bottom > frame.bottom) menu.scrollTop += within.bottom - frame.bottom + frame.height / 3;
});

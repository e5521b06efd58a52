// SPDX-License-Identifier: Apache-2.0
// The search of a site without a browser: node search.js SITE QUERY... prints, as JSON, the addresses of the hits of each query, best first.
"use strict";
const fs = require("fs"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const read = name => fs.readFileSync(`${site}/search/${name}`, "utf8");
let said;
// The browser environment of the search script.
const browser = vm.createContext({
  console: {log() {}, error: console.error},
  postMessage: message => { said = message; },
  importScripts: (...names) => names.forEach(name => vm.runInContext(read(name), browser)),
  XMLHttpRequest: class {
    addEventListener(_, done) { this.done = done; }
    open(_, name) { this.responseText = read(name); }
    send() { this.done(); }
  }
});
vm.runInContext(read("worker.js"), browser);
browser.onmessage({data: {init: true}});
console.log(JSON.stringify(queries.map(query => {
  browser.onmessage({data: {query}});
  return said.results.map(hit => hit.location);
})));

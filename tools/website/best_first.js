
// Appended to mkdocs' search: the page of what was asked for by its name comes first, a class with a member of that name next.
function best_first(query) {
  const name = query.trim().toLowerCase().replace(/[<({].*$/, "").replace(/^.*::/, "").trim();
  const of_name = hit => documents[hit.ref].name === name ? 2 : (documents[hit.ref].members || []).includes(name) ? 1 : 0;
  // The index takes `chorale::window` for a window in its field "chorale" otherwise.
  return index.search(query.replace(/\W+/g, " ")).sort((one, other) => of_name(other) - of_name(one) || other.score - one.score);
}

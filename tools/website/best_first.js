
// Appended to mkdocs' search: a page with the queried name comes first, then a class with a member of that name.
function best_first(query) {
  const name = query.trim().toLowerCase().replace(/[<({].*$/, "").replace(/^.*::/, "").trim();
  const of_name = hit => documents[hit.ref].name === name ? 2 : (documents[hit.ref].members || []).includes(name) ? 1 : 0;
  // Without the replacement, the index would search for `chorale::window` in a field named "chorale".
  return index.search(query.replace(/\W+/g, " ")).sort((one, other) => of_name(other) - of_name(one) || other.score - one.score);
}

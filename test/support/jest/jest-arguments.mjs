/**
 * Jest's option `--selectProjects` takes every word after it as the name of a project. Words that name no project are
 * files to run. They are moved before the option, so that a path after it, or after a script of package.json, works.
 *
 * @param {readonly string[]} words the arguments
 * @param {readonly string[]} projects the names of all projects
 * @returns {string[]}
 */
export function jestArguments(words, projects) {
  // After `--` the option would be a path.
  const given = words.filter((word) => word !== '--');
  const at = given.indexOf('--selectProjects');
  if (at === -1) return given;
  const behind = given.splice(at).slice(1);
  const end = behind.findIndex((word) => !projects.includes(word));
  const others = end === -1 ? [] : behind.splice(end);
  return [...given, ...others, '--selectProjects', ...behind];
}

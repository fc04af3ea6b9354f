/** Whether an import names several files: `*` stands for anything within a name, in the last part of a path. */
export function isPattern(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).includes('*');
}

/** The names that a pattern means, in order: those that begin with a dot are left out. In time proportional to both. */
export function namesOfPattern(pattern: string, names: readonly string[]): readonly string[] {
  const parts = pattern.split('*');
  return names.filter((name) => !name.startsWith('.') && fits(name, parts)).sort();
}

/** Each part between two stars is looked for from the left, where it leaves most for the others. */
function fits(name: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= name.length;
}

/** A program that imports others and does nothing else. */
export function importing(paths: readonly string[]): string {
  return paths.map((path) => `import ${JSON.stringify(path)}\n`).join('');
}

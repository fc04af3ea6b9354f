/** Words that say nothing about what is inside. */
const emptyNames = /^(utils?|helpers?|common|misc)$/;
const kebabCase = /^\.?[a-z0-9]+([.-][a-z0-9]+)*$/;
/** Names that tools and readers expect as they are. */
const givenNames = /^(LICENSE|[A-Z]+\.md|Dockerfile|Chart\.yaml)$/;

/** Names against the rules, each as `<path>: <rule>`. */
export function nameViolations(paths: readonly string[]): string[] {
  const names = new Set(paths.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))));
  return [...names].flatMap((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (emptyNames.test(name.split('.')[0] ?? '')) return [`${path}: a name says what is inside, never utils, helpers, common or misc`];
    return kebabCase.test(name) || givenNames.test(name) ? [] : [`${path}: names are kebab-case`];
  });
}

const machinePath = /(?<![\w.])\/(work|root|home)\//;
const registryHost = /\bregistry\.[\w-]+(\.[\w-]+)+|"resolved": "https?:/;

/** Lines that tie the project to one machine or one registry, each as `<file>:<line>: <rule>`. */
export function textViolations(path: string, text: string, usedRegistry?: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const where = `${path}:${index + 1}`;
    if (machinePath.test(line)) return [`${where}: no absolute path of a machine`];
    const namesRegistry = registryHost.test(line) || (usedRegistry !== undefined && line.includes(usedRegistry));
    return namesRegistry ? [`${where}: no host of a package registry`] : [];
  });
}
